"""The search form of the answers."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.console.record_search import FIELDS, read_search
from scaar.core.records import RecordFilter, Verdict
from scaar.core.types import RequestKind

QUESTIONS = RecordFilter(kind=RequestKind.QUESTION)


def test_an_empty_form_selects_every_question() -> None:
    search = read_search({"text": "", "policy": "  ", "retrieved": ""})
    assert search.filter == QUESTIONS
    assert not search.is_filtered
    assert search.query() == ""


def test_every_field_reaches_the_filter() -> None:
    search = read_search(
        {
            "text": "Ada",
            "request_id": "r-1",
            "policy": "flare-1.4",
            "tenant": "acme",
            "index": "docs",
            "since": "2030-01-01T00:00",
            "until": "2030-02-01T00:00:00+02:00",
            "retrieved": "yes",
            "degraded": "no",
            "failed": "no",
            "verdict": "wrong",
            "kind": "task",
        }
    )
    assert search.problems == {}
    assert search.filter == RecordFilter(
        tenant="acme",
        policy="flare-1.4",
        index="docs",
        request_id="r-1",
        since="2030-01-01T00:00:00Z",
        until="2030-01-31T22:00:00Z",
        retrieved=True,
        degraded=False,
        failed=False,
        verdict=Verdict.WRONG,
        text="Ada",
        kind=RequestKind.TASK,
    )


@pytest.mark.parametrize(("sent", "has_feedback"), [("any", True), ("none", False)])
def test_a_verdict_can_be_any_or_none(sent: str, has_feedback: bool) -> None:
    found = read_search({"verdict": sent}).filter
    assert (found.has_feedback, found.verdict) == (has_feedback, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("since", "yesterday"),
        ("until", "2030-13-01"),
        ("since", "0001-01-01T00:00+05:00"),
        ("until", "9999-12-31T23:59-05:00"),
        ("retrieved", "perhaps"),
        ("verdict", "great"),
        ("kind", "order"),
        ("text", "x" * 201),
        ("index", "x" * 65),
        ("request_id", "x" * 129),
    ],
)
def test_an_invalid_field_is_named_and_left_out_of_the_filter(field: str, value: str) -> None:
    search = read_search({field: value})
    assert list(search.problems) == [field]
    assert search.filter == QUESTIONS
    # The form shows what was sent.
    assert search.fields[field] == value


@given(
    st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=30)),
    st.sampled_from(["", "25", "50", "100", "7"]),
)
def test_a_bookmark_of_a_search_is_the_same_search(sent: dict[str, str], size: str) -> None:
    search = read_search({**sent, "page_size": size, "page_token": "t"})
    again = read_search(dict(parse_qsl(search.query())))
    assert again.filter == search.filter
    assert again.fields == search.fields
    assert again.page_size == search.page_size
    assert again.page_token == ""
