"""Commands that read the results of an evaluation without a model."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.evaluator.execution.prediction import NO_USAGE
from scaar.evaluator.records import Failure
from scaar.evaluator.store.database.stored_results import store_results
from scaar.evaluator.store.folder import read_results
from scaar.testing.commands import run_scaar
from scaar.testing.evaluations import prediction_records, question_records

USAGE, FAILURE = 2, 1


@pytest.fixture(scope="module")
def results(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten questions under two policies."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(lab_home))
        requested = ("--dataset", "lab", "--limit", "10", "--policies", "no_retrieval,scaar")
        assert run_scaar("eval", "run", *requested, "--out", str(folder)).status == 0
    return folder


def kept(results: Path, folder: Path, *, count: int) -> None:
    """Store the results with the first predictions only."""
    found = read_results(results)
    asyncio.run(store_results(folder, replace(found, predictions=found.predictions[:count])))


def test_predictions_are_scored_again_without_a_model(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "/nowhere")
    scores = (results / "scores.csv").read_bytes()
    (results / "scores.csv").unlink()
    ran = run_scaar("eval", "rescore", str(results))
    assert ran.status == 0
    assert (results / "scores.csv").read_bytes() == scores
    assert "| no_retrieval |" in ran.out


def test_an_incomplete_run_is_reported_and_missing_predictions_count_as_0(
    results: Path, tmp_path: Path
) -> None:
    kept(results, tmp_path, count=1)
    ran = run_scaar("eval", "rescore", str(tmp_path))
    assert "19 predictions are missing, counted as 0" in ran.err
    assert ran.out.splitlines()[3].endswith("| 0 | 10 |")


def test_a_run_with_failures_only_says_why(results: Path, tmp_path: Path) -> None:
    kept(results, tmp_path, count=0)
    none = run_scaar("eval", "rescore", str(tmp_path))
    assert (none.status, none.out) == (FAILURE, "")
    assert "has no predictions yet" in none.err
    (tmp_path / "evaluations.sqlite").unlink()
    found = read_results(results)
    failure = Failure("OVERLOADED", "come again")
    lost = [
        replace(each, answer="", text="", usage=NO_USAGE, decisions=(), end=None, failure=failure)
        for each in found.predictions
        if each.setting == "scaar"
    ]
    asyncio.run(store_results(tmp_path, replace(found, predictions=tuple(lost))))
    ran = run_scaar("eval", "rescore", str(tmp_path))
    assert (ran.status, ran.out) == (0, "")
    assert "10 predictions, 10 failed" in ran.err
    assert "first failure: OVERLOADED: come again" in ran.err
    question = lost[0].question_id
    shown = run_scaar("eval", "show", str(tmp_path), "--question", question)
    assert "failed: OVERLOADED: come again" in shown.out
    assert "no prediction yet: the evaluation is not complete" in shown.out


def test_a_question_is_shown_word_by_word(results: Path) -> None:
    records = prediction_records(results)
    retrieved = next(
        each for each in records if any("query" in decision for decision in each["decisions"])
    )
    ran = run_scaar(
        *("eval", "show", str(results), "--question", retrieved["question_id"]),
        *("--setting", "scaar"),
    )
    assert ran.status == 0
    decision = next(each for each in retrieved["decisions"] if "query" in each)
    shown = " ".join(ran.out.split())
    word = decision["words"][decision["trigger"]]
    assert f"trigger {word['text']} has probability" in shown
    assert f"{word['text']} ▲" in shown
    assert f"r {word['contribution']:.2f}" in shown
    assert decision["query"]["text"] in shown
    assert all(f"] {passage}" in shown for passage in decision["passage_ids"])
    assert decision["draft"].strip() in shown
    assert f"again {decision['text'].strip()}" in shown
    assert "correct expected: " in shown or "wrong expected: " in shown


def test_a_question_is_shown_under_every_setting(results: Path) -> None:
    question, *_ = question_records(results)
    ran = run_scaar("eval", "show", str(results), "--question", question["id"])
    assert ran.out.count("expected: " + question["answers"][0]) == 2
    assert ran.out.index("no_retrieval ─") < ran.out.index("scaar ─")


@pytest.mark.parametrize(
    ("options", "message_text"),
    [
        (
            ("--question", "tail"),
            "--question: there is no 'tail' in this evaluation; similar: tail-",
        ),
        (
            ("--question", "{first}", "--setting", "flare"),
            "--setting: there is no 'flare' in this evaluation; similar: scaar, no_retrieval",
        ),
    ],
)
def test_unknown_questions_and_settings_are_named(
    results: Path, options: tuple[str, ...], message_text: str
) -> None:
    first = question_records(results)[0]["id"]
    requested = [each.format(first=first) for each in options]
    ran = run_scaar("eval", "show", str(results), *requested)
    assert ran.status == USAGE
    assert message_text in ran.err


def test_a_folder_without_an_evaluation_is_reported(tmp_path: Path) -> None:
    for requested in (("rescore", str(tmp_path)), ("show", str(tmp_path), "--question", "a")):
        ran = run_scaar("eval", *requested)
        assert ran.status == FAILURE
        assert f"{tmp_path} contains no evaluation: there is no evaluations.sqlite" in ran.err


def test_two_evaluations_are_compared_over_the_questions_of_both(
    results: Path, tmp_path: Path
) -> None:
    requested = ("--dataset", "lab", "--limit", "6", "--policies", "scaar,flare")
    assert run_scaar("eval", "run", *requested, "--out", str(tmp_path)).status == 0
    ran = run_scaar("eval", "compare", str(results), str(tmp_path))
    assert ran.status == 0
    _, _, only = ran.out.splitlines()
    label, before, after, difference, _, retrievals, *_ = only.strip("| ").split(" | ")
    assert (label, difference, retrievals) == ("scaar", "+0.000 [+0.000, +0.000]", "+0.00")
    assert before == after
    assert "6 questions in both" in ran.err
    assert "only in A: no_retrieval" in ran.err
    assert "only in B: flare" in ran.err


def test_evaluations_without_anything_in_common_are_refused(results: Path, tmp_path: Path) -> None:
    requested = ("--dataset", "lab", "--limit", "2", "--policies", "ircot,flare")
    assert run_scaar("eval", "run", *requested, "--out", str(tmp_path)).status == 0
    ran = run_scaar("eval", "compare", str(results), str(tmp_path))
    assert ran.status == USAGE
    assert (
        f"{results} (A) and {tmp_path} (B): B has no setting of A: ircot, flare there, " in ran.err
    )
