"""``scaar eval --target`` with an evaluator on a real socket and a scripted answerer."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaar.evaluator.service.setup import open_evaluator
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
    loop, message = asyncio.new_event_loop(), threading.Event()
    targets: list[str] = []
    stopping = asyncio.Event()

    async def serve() -> None:
        answerer = SteadyAnswerer(failing=(("poison", 0),))
        opened = open_evaluator(SETTINGS, answerer, database_url=url, lab_index=str)
        async with opened as evaluator, serving(EvaluatorServicer(evaluator)) as (_, target):
            targets.append(target)
            message.set()
            await stopping.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert message.wait(timeout=600)
        yield targets[0]
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
        loop.close()


def questions(path: Path, *texts: str) -> str:
    rows = ({"id": text, "question": f"Who is {text}?", "answers": ["Ada"]} for text in texts)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def test_an_evaluation_is_run_listed_and_reported(target: str, tmp_path: Path) -> None:
    file = questions(tmp_path / "mine.jsonl", "one", "two", "poison")
    requested = ("eval", "run", "--dataset", f"jsonl:{file}", "--policies", "no_retrieval,flare")
    where = ("--target", target)
    created = run_scaar(*requested, "--index", "lab", "--theta", "0.3,0.8", *where)
    assert created.status == 0, created.err
    heading, _, first, *_ = created.out.splitlines()
    assert created.err.startswith("evaluation ")
    evaluation_id = created.err.split()[1]
    assert heading == "| setting | F1 | N_R | done | failed |"
    assert first == "| no_retrieval | 0.667 | 0.00 | 3 | 1 |"
    assert f"{evaluation_id} succeeded: 9 of 9" in created.err

    (listed,) = run_scaar(
        "eval", "list", "--state", "succeeded", "--format", "json", *where
    ).records
    assert (listed["id"], listed["done"], listed["failed"]) == (evaluation_id, 9, 3)
    assert listed["settings"] == ["no_retrieval", "flare:theta=0.3", "flare:theta=0.8"]
    table = run_scaar("eval", "list", *where).out.splitlines()
    assert table[2].startswith(f"| {evaluation_id} | succeeded | jsonl | 3 | 3 | 9 of 9 | 3 |")

    message = run_scaar("eval", "report", evaluation_id, "--format", "markdown", *where)
    assert message.out.startswith("# Evaluation on jsonl")
    out = tmp_path / "report"
    ran = run_scaar("eval", "report", evaluation_id, "--out", str(out), *where)
    assert (ran.status, ran.out) == (0, f"{out}/report.html\n")
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    assert (out / "report.md").read_text() == message.out
    assert json.loads((out / "report.json").read_text())["format"] == 1

    requested = ("eval", "show", evaluation_id, *where, "--question")
    shown = run_scaar(*requested, "one", "--setting", "flare:theta=0.3").out
    assert "Who is one?" in shown
    assert "So the answer is Ada." in shown
    assert "correct  expected: Ada" in shown
    assert run_scaar(*requested, "poison").out.count("failed: BACKEND_UNAVAILABLE") == 3
    assert "has no question 'two-and-a-half'" in run_scaar(*requested, "two-and-a-half").err

    ended = run_scaar("eval", "cancel", evaluation_id, *where)
    assert ended.status == 1
    assert (
        "is succeeded, with 9 of 9 predictions: only an evaluation that has not ended" in ended.err
    )


@pytest.mark.parametrize("freedom", [(), ("--freedom", "0.5")], ids=str)
def test_a_model_that_writes_no_free_words_is_named(target: str, freedom: tuple[str, ...]) -> None:
    requested = ("eval", "run", "--dataset", "lab", "--policies", "no_retrieval", "--limit", "2")
    ran = run_scaar(*requested, *freedom, "--target", target)
    assert ran.status == 0, ran.err
    advice = "freedom: of the lab's models, lab-lm-free and lab-lm-free-b write free words, and "
    assert (advice in ran.err) == bool(freedom)


def test_questions_of_another_data_set_are_sent_with_a_note(target: str, tmp_path: Path) -> None:
    file = tmp_path / "dev.json"
    file.write_text('[{"qid": "1", "term": "Ada", "question": "Was Ada here?", "answer": true}]')
    ran = run_scaar(
        *("eval", "run", "--dataset", f"strategyqa:{file}", "--policies", "no_retrieval"),
        *("--target", target),
    )
    assert ran.status == 0, ran.err
    assert (
        "sent and evaluated as jsonl, not as strategyqa: with the measures exact_match" in ran.err
    )
    assert "SCAAR_EVALUATOR_DATASETS" in ran.err


def test_the_same_request_id_is_the_same_evaluation(target: str, tmp_path: Path) -> None:
    file = questions(tmp_path / "mine.jsonl", "three")
    requested = (
        *("eval", "run", "--dataset", f"jsonl:{file}", "--request-id", "nightly"),
        *("--detach", "--target", target),
    )
    first, again = (run_scaar(*requested, "--policies", "no_retrieval") for _ in range(2))
    assert (first.status, first.out) == (0, again.out)
    other = run_scaar(*requested, "--policies", "single_round", "--index", "lab")
    assert other.status == 1
    assert "the request id 'nightly' belongs to another request" in other.err


def test_a_data_set_unknown_to_the_service_is_reported(target: str) -> None:
    ran = run_scaar(
        *("eval", "run", "--dataset", "hotpotqa", "--policies", "no_retrieval"),
        *("--target", target),
    )
    assert ran.status == 2
    assert "--dataset: there is no data set 'hotpotqa' here; known: lab" in ran.err


def test_an_unknown_evaluation_is_reported(target: str) -> None:
    ran = run_scaar("eval", "watch", "nobody", "--target", target)
    assert (ran.status, ran.err) == (1, "scaar: there is no evaluation 'nobody'\n")
