import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.core.pages import next_page_token, page_size_of, place_of

QUERIES = st.lists(st.text(max_size=8), max_size=3)
PLACES = st.lists(st.integers(0, 2**40), min_size=1, max_size=3)


@given(QUERIES, PLACES)
def test_a_token_leads_to_its_place_in_its_query(query: list[str], place: list[int]) -> None:
    token = next_page_token(query, place)
    assert place_of(token, query, length=len(place)) == tuple(place)


@given(QUERIES, QUERIES, PLACES)
def test_a_token_of_another_query_is_refused(
    query: list[str], other: list[str], place: list[int]
) -> None:
    if query != other:
        with pytest.raises(InvalidRequest, match="page_token: belongs to another query"):
            place_of(next_page_token(query, place), other, length=len(place))


@given(st.text(min_size=1, max_size=40))
def test_an_invalid_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidRequest, match="page_token"):
        place_of(token, ("a",), length=1)


def test_the_first_page_has_no_token() -> None:
    assert place_of("", ("a",), length=1) is None


@pytest.mark.parametrize("size", [0, -1, 1_001])
def test_a_page_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(InvalidRequest, match="page_size: must be 1 to 1,000"):
        page_size_of(size)


def test_a_page_has_a_hundred_entries_by_default() -> None:
    assert (page_size_of(None), page_size_of(7)) == (100, 7)
