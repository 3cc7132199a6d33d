"""``scaar evals`` against an evaluator on a real socket, asked by a steady answerer."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaar.evaluator.service.opening import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.testing.commands import run_scaar
from scaar.testing.sockets import serving
from scaar.testing.steady_answerer import SteadyAnswerer
from scaar.wire.evaluator import EvaluatorServicer

SETTINGS = EvaluatorSettings(attempts=1, patience_s=0, max_unfinished=50)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An evaluator that serves from a thread of its own; a question that says poison fails."""
    url = f"sqlite:///{tmp_path_factory.mktemp('evaluator')}/evaluations.sqlite"
    loop, told = asyncio.new_event_loop(), threading.Event()
    targets: list[str] = []
    stopping = asyncio.Event()

    async def serve() -> None:
        answerer = SteadyAnswerer(failing=(("poison", 0),))
        opened = open_evaluator(SETTINGS, answerer, database_url=url, lab_index=str)
        async with opened as evaluator, serving(EvaluatorServicer(evaluator)) as (_, target):
            targets.append(target)
            told.set()
            await stopping.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert told.wait(timeout=600)
        yield targets[0]
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
        loop.close()


def questions(path: Path, *texts: str) -> str:
    rows = ({"id": text, "question": f"Who is {text}?", "answers": ["Ada"]} for text in texts)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def test_an_evaluation_is_created_watched_listed_and_reported(target: str, tmp_path: Path) -> None:
    file = questions(tmp_path / "mine.jsonl", "one", "two", "poison")
    asked = ("evals", "create", "--questions", file, "--policies", "no_retrieval,flare")
    where = ("--target", target)
    created = run_scaar(*asked, "--index", "lab", "--theta", "0.3,0.8", "--watch", *where)
    assert created.status == 0, created.err
    evaluation_id, heading, _, first, *_ = created.out.splitlines()
    assert heading == "| setting | F1 | N_R | done | failed |"
    assert first == "| no_retrieval | 0.667 | 0.00 | 3 | 1 |"
    assert f"{evaluation_id} succeeded: 9 of 9" in created.err

    (listed,) = run_scaar("evals", "list", "--state", "succeeded", "--json", *where).records
    assert (listed["id"], listed["done"], listed["failed"]) == (evaluation_id, 9, 3)
    assert listed["settings"] == ["no_retrieval", "flare:theta=0.3", "flare:theta=0.8"]
    table = run_scaar("evals", "list", *where).out.splitlines()
    assert table[2].startswith(f"| {evaluation_id} | succeeded | jsonl | 3 | 3 | 9 of 9 | 3 |")

    told = run_scaar("evals", "report", evaluation_id, *where)
    assert told.out.startswith("# Evaluation on jsonl")
    out = tmp_path / "report.html"
    ran = run_scaar("evals", "report", evaluation_id, "--form", "html", "--out", str(out), *where)
    assert (ran.status, ran.out) == (0, f"{out}\n")
    assert out.read_text().startswith("<!doctype html>")

    asked = ("evals", "show", evaluation_id, *where, "--question")
    shown = run_scaar(*asked, "one", "--setting", "flare:theta=0.3").out
    assert "Who is one?" in shown
    assert "So the answer is Ada." in shown
    assert "right  wanted: Ada" in shown
    assert run_scaar(*asked, "poison").out.count("failed: BACKEND_UNAVAILABLE") == 3
    assert "has no question 'two-and-a-half'" in run_scaar(*asked, "two-and-a-half").err

    ended = run_scaar("evals", "cancel", evaluation_id, *where)
    assert ended.status == 1
    assert "is succeeded, with 9 of 9 predictions: only what has not ended" in ended.err


def test_the_same_request_id_is_the_same_evaluation(target: str, tmp_path: Path) -> None:
    file = questions(tmp_path / "mine.jsonl", "three")
    asked = ("evals", "create", "--questions", file, "--request-id", "nightly", "--target", target)
    first, again = (run_scaar(*asked, "--policies", "no_retrieval") for _ in range(2))
    assert (first.status, first.out) == (0, again.out)
    other = run_scaar(*asked, "--policies", "single_round", "--index", "lab")
    assert other.status == 1
    assert "the request id 'nightly' is of another request" in other.err


def test_a_data_set_that_the_service_has_not_is_told(target: str) -> None:
    ran = run_scaar(
        *("evals", "create", "--dataset", "hotpotqa", "--policies", "no_retrieval"),
        *("--target", target),
    )
    assert ran.status == 2
    assert "dataset: there is no data set 'hotpotqa' here; known: lab" in ran.err


def test_one_that_is_not_there_is_told(target: str) -> None:
    ran = run_scaar("evals", "watch", "nobody", "--target", target)
    assert (ran.status, ran.err) == (1, "scaar: there is no evaluation 'nobody'\n")
