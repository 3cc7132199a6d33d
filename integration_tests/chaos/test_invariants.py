"""Tests of the checks: planted violations are found, and correct records pass."""

from dataclasses import replace

import pytest

from .invariants import (
    MARGIN_S,
    UNWRITTEN_S,
    check_call,
    check_evaluation,
    check_idle,
    check_logs,
    check_records,
    check_search,
)
from .records import Call, Row, Search, Text

QUESTION = ("Who directed it?", "scaar")
RIGHT = Text("Ada", (("She is Ada. ", ("p1", "p2")), ("So: Ada.", ())), retrievals=1)
EXPECTED = {QUESTION: RIGHT}
CALL = Call("Answer", 10.0, 11.0, deadline_s=10.0, answers=(RIGHT,), question=QUESTION)
ROWS = [
    Row(f"q{at}", setting, "Ada", "So: Ada.", 1)
    for at in range(3)
    for setting in ("flare", "scaar")
]
KEYED = {row.key: row for row in ROWS}
SEARCH = Search(1.0, found=(7,) * 5, possible=frozenset({7, 8}), passages=5)


def rules(call: Call, paused_s: float = 0.0) -> list[str]:
    return [each.rule for each in check_call(call, EXPECTED, paused_s=paused_s)]


def failed(code: str) -> Call:
    return replace(CALL, code=code, answers=())


def test_a_right_answer_and_a_mapped_failure_pass() -> None:
    assert rules(CALL) == []
    for code in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED"):
        assert rules(failed(code)) == []


@pytest.mark.parametrize("code", ["INTERNAL", "UNKNOWN", "DATA_LOSS", "NOT_FOUND", "CANCELLED"])
def test_a_status_that_a_valid_request_must_not_get_is_found(code: str) -> None:
    assert rules(failed(code)) == ["mapped status"]


def test_a_call_over_its_deadline_is_found_unless_its_server_was_paused() -> None:
    late = replace(CALL, ended=CALL.began + CALL.deadline_s + MARGIN_S + 1)
    assert rules(late) == ["deadline"]
    assert rules(replace(late, code="DEADLINE_EXCEEDED", answers=())) == ["deadline"]
    assert rules(late, paused_s=2.0) == []


def test_an_answer_that_is_missing_or_comes_twice_is_found() -> None:
    assert rules(replace(CALL, answers=())) == ["ends once"]
    assert "ends once" in rules(replace(CALL, answers=(RIGHT, RIGHT)))


@pytest.mark.parametrize(
    "wrong",
    [
        replace(RIGHT, answer="Bob"),
        replace(RIGHT, sentences=(("She is Bob. ", ("p1", "p2")), RIGHT.sentences[1])),
        replace(RIGHT, sentences=(("She is Ada. ", ("p1", "p3")), RIGHT.sentences[1])),
        replace(RIGHT, retrievals=2),
    ],
)
def test_a_wrong_answer_is_found(wrong: Text) -> None:
    assert rules(replace(CALL, answers=(wrong,))) == ["right answer"]
    assert rules(replace(CALL, answers=(wrong,), may_degrade=True)) == ["right answer"]


def test_a_degraded_answer_may_differ_after_the_marked_sentence_if_permitted() -> None:
    degraded = Text("", (RIGHT.sentences[0], ("So: Bob.", ())), retrievals=1, degraded=1)
    assert rules(replace(CALL, answers=(degraded,), may_degrade=True)) == []
    assert rules(replace(CALL, answers=(degraded,))) == ["right answer"]
    before = replace(degraded, sentences=(("She is Bob. ", ()), ("So: Bob.", ())))
    assert rules(replace(CALL, answers=(before,), may_degrade=True)) == ["right answer"]


def test_an_evaluation_with_every_row_once_passes() -> None:
    assert check_evaluation("one", 0.0, rows=ROWS, expected=KEYED) == []


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ([*ROWS, ROWS[2]], "rows once"),
        (ROWS[1:], "rows once"),
        ([*ROWS, replace(ROWS[0], question="q9")], "rows once"),
        ([replace(ROWS[0], answer="Bob"), *ROWS[1:]], "right rows"),
        ([replace(ROWS[0], retrievals=0), *ROWS[1:]], "right rows"),
        ([replace(ROWS[0], failure="BACKEND_UNAVAILABLE: away"), *ROWS[1:]], "right rows"),
    ],
    ids=["double", "missing", "strange", "wrong", "other retrievals", "failed"],
)
def test_a_planted_fault_of_an_evaluation_is_found(rows: list[Row], rule: str) -> None:
    assert [each.rule for each in check_evaluation("one", 0.0, rows=rows, expected=KEYED)] == [rule]


def test_an_answer_has_one_record_with_its_text() -> None:
    call = replace(CALL, request_id="one")
    assert check_records([call, CALL, failed("UNAVAILABLE")], {"one": ["Ada"]}, []) == []
    for records in ({}, {"one": ["Bob"]}, {"one": ["Ada", "Ada"]}, {"two": ["Ada"]}):
        assert [each.rule for each in check_records([call], records, [])] == ["one record"]


def test_only_answers_before_the_kill_of_an_orchestrator_may_have_no_record() -> None:
    call = replace(CALL, request_id="one")
    assert check_records([call], {}, [call.ended + 1]) == []
    for at in (call.ended - 1, call.ended + UNWRITTEN_S + 1):
        assert len(check_records([call], {}, [at])) == 1
    assert len(check_records([call], {"one": ["Bob"]}, [call.ended + 1])) == 1


def test_a_search_finds_all_of_one_possible_generation() -> None:
    assert check_search(SEARCH) == []
    assert check_search(replace(SEARCH, found=(8,) * 5)) == []
    for found in [(7, 7, 7, 8, 8), (6,) * 5, (7,) * 4, ()]:
        assert [each.rule for each in check_search(replace(SEARCH, found=found))] == [
            "right search"
        ]


def test_abandoned_calls_and_parts_that_are_not_serving_are_found() -> None:
    assert check_idle({"scorer-1": 0.0}, [], 0.0) == []
    found = check_idle({"scorer-1": 2.0}, ["retriever-2"], 0.0)
    assert [each.text.split()[0] for each in found] == ["scorer-1", "retriever-2"]


def test_an_unexpected_error_is_found_in_a_log() -> None:
    assert check_logs([("scorer-1", "scorer serving on 127.0.0.1:1\n")], 0.0) == []
    text = (
        'Traceback (most recent call last):\n  File "/scaar/{}/a.py", line 1, in f\nKeyError: 1\n'
    )
    assert check_logs([("scorer-1", text.format("redis"))], 0.0) == []
    (found,) = check_logs([("scorer-1", text.format("services/scaar"))], 0.0)
    assert found.text == 'scorer-1: File "/scaar/services/scaar/a.py", line 1, in f'
