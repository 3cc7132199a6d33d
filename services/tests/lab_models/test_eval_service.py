"""``scaar eval --target`` with ``scaar serve evaluator`` as a process, over the lab's models."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scaar.client import open_sync_evaluation_client
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.proxy_json import proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.store.folder import read_results
from scaar.lab.passages import passages_of
from scaar.lab.world import World
from scaar.testing.commands import run_scaar
from scaar.testing.processes import RunningService, running_service

SUCCEEDED = "succeeded"
LEASE_S = "5"


def reported(*options: str) -> str:
    """The JSON report of an evaluation, without its start and its latencies."""
    ran = run_scaar("eval", "report", *options, "--format", "json")
    assert ran.status == 0, ran.err
    report = json.loads(re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "START", ran.out))
    tables = [each for section in report["sections"] for each in section["items"] if "rows" in each]
    for table in tables:
        timed = [at for at, each in enumerate(table["columns"]) if each["name"] == "latency_ms"]
        for row in table["rows"]:
            for at in timed:
                del row[at]
    assert tables
    return json.dumps(report, indent=1)


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


def test_an_evaluation_is_run_listed_and_reported(target: str, tmp_path: Path) -> None:
    requested = ("--dataset", "lab", "--limit", "4", "--policies", "no_retrieval,single_round")
    ran = run_scaar("eval", "run", *requested, "--target", target)
    assert ran.status == 0, ran.err
    shown, evaluation_id = ran.out.splitlines(), ran.err.split()[1]
    assert shown[0].startswith("| setting | F1 | N_R | done | failed |")
    assert shown[2].startswith("| no_retrieval |")
    assert "succeeded: 8 of 8" in ran.err
    (listed,) = [
        each
        for each in run_scaar("eval", "list", "--format", "json", "--target", target).records
        if each["id"] == evaluation_id
    ]
    assert (listed["state"], listed["done"], listed["index"]) == (SUCCEEDED, 8, "lab")
    out = tmp_path / "report"
    ran = run_scaar("eval", "report", evaluation_id, "--out", str(out), "--target", target)
    assert ran.status == 0, ran.err
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    again = run_scaar("eval", "cancel", evaluation_id, "--target", target)
    assert again.status == 1
    assert "is succeeded, with 8 of 8 predictions" in again.err


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The file of a gate by which every question is long-tail with the probability 0.5."""
    path = tmp_path / "gate.json"
    statistics = WordStatistics("none", {}, 0.1)
    proxy = GateProxy("lab-lm", "", statistics, 0.0, (0.0, 0.0, 0.0), 0.5)
    path.write_bytes(proxy_to_json(proxy, learned_from={}))
    return path


@pytest.mark.long
def test_grids_scorers_gates_and_indexes_are_evaluated_as_on_the_command_line(
    lab_home: Path, world: World, tmp_path: Path, gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = ({"id": each.id, "title": each.title, "text": each.text} for each in passages_of(world))
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for index in ("one", "two"):
        built = run_scaar("index", "build", "--corpus", str(corpus), "--index", index)
        assert built.status == 0, built.err
    requested = (
        *("--dataset", "lab", "--limit", "4", "--policies", "no_retrieval,scaar"),
        *("--scorer", "none,permuted,idf", "--gate", "gece_proxy,gece_proxy:0.6"),
        *("--index", "one,two", "--grid", "2", "--cache-generations"),
    )
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_GATE_FILE", str(gate))
    # The number of tokens drafted ahead depends on how fast each sentence is judged.
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DRAFT_AHEAD", "false")
    out = tmp_path / "out"
    assert run_scaar("eval", "run", *requested, "--out", str(out)).status == 0
    local = read_results(out)
    with evaluator(lab_home, tmp_path / "evaluations.sqlite") as service:
        created = run_scaar("eval", "run", *requested, "--target", service.target)
        assert created.status == 0, created.err
        with open_sync_evaluation_client(service.target) as client:
            evaluation = created.err.split()[1]
            described = client.get_evaluation(evaluation)
            predictions = list(client.predictions(evaluation))
        served = reported(evaluation, "--target", service.target)
    assert served == reported(str(out))
    assert described.settings == tuple(each.label for each in local.evaluation.settings)
    assert len(described.settings) == 1 + 3 * 3 * 2 * 2
    assert [(each.setting, each.question_id, each.text) for each in predictions] == [
        (each.setting, each.question_id, each.text) for each in local.predictions
    ]


def test_a_control_without_an_orchestrator_is_refused(
    lab_home: Path,
) -> None:
    variables = {"SCAAR_EVALUATOR_ORCHESTRATOR_TARGET": "dns:///127.0.0.1:1"}
    with running_service("evaluator", lab_home, **variables) as service:
        requested = ("--dataset", "lab", "--limit", "2", "--policies", "scaar")
        ran = run_scaar(
            *("eval", "run", *requested, "--scorer", "none,permuted"),
            *("--target", service.target),
        )
    assert ran.status == 2
    assert "--scorer: the control permuted is not available" in " ".join(ran.err.split())


@pytest.mark.long
def test_a_killed_evaluator_resumes_where_it_was(
    lab_home: Path, tmp_path: Path, questions: Path
) -> None:
    database, policies = tmp_path / "evaluations.sqlite", "no_retrieval,single_round,flare"
    requested = ("--dataset", f"jsonl:{questions}", "--index", "lab", "--policies", policies)
    with evaluator(lab_home, database) as service:
        created = run_scaar("eval", "run", *requested, "--detach", "--target", service.target)
        assert created.status == 0, created.err
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
    evaluation_id = created.out.strip()
    with evaluator(lab_home, database) as service:
        watched = run_scaar("eval", "watch", evaluation_id, "--target", service.target)
        assert watched.status == 0, watched.err
        assert "succeeded: 36 of 36" in watched.err
        report = run_scaar(
            *("eval", "report", evaluation_id, "--format", "markdown", "--target", service.target)
        )
    assert report.out.startswith("# Evaluation on jsonl")
