import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.evaluator.service.pages import place_in, size_of_page, token_behind

QUERIES = st.lists(st.text(max_size=8), max_size=3)
PLACES = st.lists(st.integers(0, 2**40), min_size=1, max_size=3)


@given(QUERIES, PLACES)
def test_a_token_leads_to_its_place_in_its_query(query: list[str], place: list[int]) -> None:
    token = token_behind(query, place)
    assert place_in(token, query, length=len(place)) == tuple(place)


@given(QUERIES, QUERIES, PLACES)
def test_a_token_of_another_query_is_refused(
    query: list[str], other: list[str], place: list[int]
) -> None:
    if query != other:
        with pytest.raises(InvalidRequest, match="page_token: is of another query"):
            place_in(token_behind(query, place), other, length=len(place))


@given(st.text(min_size=1, max_size=40))
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidRequest, match="page_token"):
        place_in(token, ("a",), length=1)


def test_the_first_page_has_no_token() -> None:
    assert place_in("", ("a",), length=1) is None


@pytest.mark.parametrize("size", [0, -1, 1_001])
def test_a_page_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(InvalidRequest, match="page_size: must be 1 to 1,000"):
        size_of_page(size)


def test_a_page_has_a_hundred_entries_where_nobody_says() -> None:
    assert (size_of_page(None), size_of_page(7)) == (100, 7)
