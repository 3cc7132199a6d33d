import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage, RetrieveRequest
from scaar.retriever.validation import (
    MAX_TEXT_CHARACTERS,
    check_index_name,
    check_request,
    passage_violations,
)


@pytest.mark.parametrize("name", ["a", "lab-5", "wiki_2018.v2", "0", "x" * 64])
def test_valid_names_of_indexes_are_accepted(name: str) -> None:
    check_index_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".lock", "../x", "a/b", "A", "a b", "a\n", "é", "-a", "x" * 65, "a\0"]
)
def test_invalid_names_of_indexes_are_rejected(name: str) -> None:
    with pytest.raises(InvalidRequest, match="index: must be"):
        check_index_name(name)


def test_every_wrong_field_of_a_request_is_named() -> None:
    request = RetrieveRequest(queries=("fine", " \n", "x" * 32_769), top_k=101, index="lab")
    with pytest.raises(InvalidRequest) as caught:
        check_request(request)
    assert [violation.field for violation in caught.value.violations] == [
        "queries[1]",
        "queries[2]",
        "top_k",
    ]
    assert "32,768" in caught.value.message


@pytest.mark.parametrize("top_k", [1, 100])
def test_values_at_the_limits_are_accepted(top_k: int) -> None:
    check_request(RetrieveRequest(queries=("x" * 32_768,), top_k=top_k, index="lab"))
    check_request(RetrieveRequest(queries=(), top_k=top_k, index="lab"))
    check_request(RetrieveRequest(queries=("x",) * 1_000, top_k=top_k, index="lab"))


def test_more_queries_than_a_request_may_have_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="^queries: must be at most 1,000, not 1,001$"):
        check_request(RetrieveRequest(queries=("",) * 1_001, top_k=1, index="lab"))


@pytest.mark.parametrize(
    ("passage", "field"),
    [
        (Passage("", "t", "x"), "id"),
        (Passage("i" * 513, "t", "x"), "id"),
        (Passage("i\tj", "t", "x"), "id"),
        (Passage("i", "t" * 4_097, "x"), "title"),
        (Passage("i", "t\x1b", "x"), "title"),
        (Passage("i", "t", " "), "text"),
        (Passage("i", "t", "x" * (MAX_TEXT_CHARACTERS + 1)), "text"),
        (Passage("i", "t", "null\0"), "text"),
        (Passage("i", "t", "half \ud83d"), "text"),
    ],
)
def test_an_invalid_passage_is_reported_with_its_field(passage: Passage, field: str) -> None:
    assert [violation.field for violation in passage_violations(passage)] == [field]


@pytest.mark.parametrize(
    "text",
    [
        "x" * MAX_TEXT_CHARACTERS,
        "Question: who?\nSo the answer is 42.",
        "👨\u200d👩\u200d👧 tabs\tand\r\nbreaks",
    ],
)
def test_any_text_is_a_valid_passage(text: str) -> None:
    assert passage_violations(Passage("i", "", text)) == []


def test_the_queries_of_a_request_together_are_limited() -> None:
    longest = ("x" * 32_768,)
    check_request(RetrieveRequest(queries=longest * 32, top_k=1, index="lab"))
    with pytest.raises(InvalidRequest, match=r"queries: must have at most 1,048,576 characters"):
        check_request(RetrieveRequest(queries=longest * 33, top_k=1, index="lab"))
