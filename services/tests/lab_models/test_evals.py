"""``scaar evals`` against ``scaar serve evaluator`` as a process, over the lab's models."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar
from scaar.testing.processes import RunningService, running_service

SUCCEEDED = "succeeded"
LEASE_S = "5"


@contextmanager
def evaluator(home: Path, database: Path) -> Iterator[RunningService]:
    url = f"sqlite:///{database}"
    variables = {"SCAAR_EVALUATOR_DATABASE": url, "SCAAR_EVALUATOR_LEASE_S": LEASE_S}
    with running_service("evaluator", home, **variables) as service:
        yield service


@pytest.fixture(scope="module")
def target(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = tmp_path_factory.mktemp("evaluator") / "evaluations.sqlite"
    with evaluator(lab_home, database) as service:
        yield service.target


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    rows = (
        {"id": f"q{at}", "question": f"Who directed the film {at}?", "answers": ["Nobody"]}
        for at in range(12)
    )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_an_evaluation_is_created_watched_listed_and_reported(target: str, tmp_path: Path) -> None:
    asked = ("--dataset", "lab", "--limit", "4", "--policies", "no_retrieval,single_round")
    ran = run_scaar("evals", "create", *asked, "--watch", "--target", target)
    assert ran.status == 0, ran.err
    evaluation_id, *shown = ran.out.splitlines()
    assert shown[0].startswith("| setting | F1 | N_R | done | failed |")
    assert shown[2].startswith("| no_retrieval |")
    assert "succeeded: 8 of 8" in ran.err
    (listed,) = [
        each
        for each in run_scaar("evals", "list", "--json", "--target", target).records
        if each["id"] == evaluation_id
    ]
    assert (listed["state"], listed["done"], listed["index"]) == (SUCCEEDED, 8, "lab")
    out = tmp_path / "report.html"
    ran = run_scaar(
        *("evals", "report", evaluation_id, "--form", "html", "--out", str(out)),
        *("--target", target),
    )
    assert ran.status == 0, ran.err
    assert out.read_text().startswith("<!doctype html>")
    again = run_scaar("evals", "cancel", evaluation_id, "--target", target)
    assert again.status == 1
    assert "is succeeded, with 8 of 8 predictions" in again.err


def test_a_killed_evaluator_goes_on_where_it_was(
    lab_home: Path, tmp_path: Path, questions: Path
) -> None:
    database, policies = tmp_path / "evaluations.sqlite", "no_retrieval,single_round,flare"
    asked = ("--questions", str(questions), "--index", "lab", "--policies", policies)
    with evaluator(lab_home, database) as service:
        created = run_scaar("evals", "create", *asked, "--target", service.target)
        assert created.status == 0, created.err
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
    evaluation_id = created.out.strip()
    with evaluator(lab_home, database) as service:
        watched = run_scaar("evals", "watch", evaluation_id, "--target", service.target)
        assert watched.status == 0, watched.err
        assert "succeeded: 36 of 36" in watched.err
        report = run_scaar("evals", "report", evaluation_id, "--target", service.target)
    assert report.out.startswith("# Evaluation on jsonl")
