from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.types import Query
from scaar.evaluator.records import Decision, Question
from scaar.evaluator.statistics.table import LOOKUPS, lookups_of


def _asked(*supports: str) -> Question:
    return Question("q", "Who?", ("A",), "q", supports=supports)


def _retrieved(*ids: str, excluding: tuple[str, ...] = ()) -> Decision:
    return Decision("A.", query=Query("who", "question"), passage_ids=ids, excluded_ids=excluding)


WRITTEN = Decision("A.")


@pytest.mark.parametrize(
    ("supports", "decisions", "expected"),
    [
        ((), (_retrieved("a"),), (0, 0, 0, 0, 0, 0, 0, 0)),
        (("a", "b"), (WRITTEN,), (1, 0, 0, 0, 0, 0, 0, 0)),
        (("a", "b"), (_retrieved("a", "x"), WRITTEN), (1, 1, 1, 1, 0.5, 0, 0, 0)),
        (("a", "b"), (_retrieved("a"), _retrieved("x", "a")), (1, 2, 2, 1, 0.5, 0, 0, 0)),
        (("a", "b"), (_retrieved("x"), _retrieved("b", "a")), (1, 2, 1, 1, 1, 1, 0, 0)),
        (("a", "b"), (_retrieved("a"), _retrieved("b")), (1, 2, 2, 2, 1, 1, 0, 0)),
        (("a", "a"), (_retrieved("a"),), (1, 1, 1, 1, 1, 1, 0, 0)),
        (("a",), (_retrieved(),), (1, 1, 0, 0, 0, 0, 0, 0)),
        (("a",), (_retrieved("a"), _retrieved("x", excluding=("a",))), (1, 2, 1, 1, 1, 1, 1, 1)),
        (
            ("a", "b"),
            (_retrieved("a"), _retrieved("b", excluding=("a", "x"))),
            (1, 2, 2, 2, 1, 1, 1, 0),
        ),
        (("a",), (_retrieved("x"), _retrieved("a", excluding=("x",))), (1, 2, 1, 1, 1, 1, 0, 0)),
    ],
)
def test_the_support_recall_of_retrievals_is_counted(
    supports: tuple[str, ...], decisions: tuple[Decision, ...], expected: tuple[float, ...]
) -> None:
    assert lookups_of(_asked(*supports), decisions) == expected


ids = st.sampled_from("abcdefg")


@given(st.sets(ids, min_size=1), st.lists(st.lists(ids)))
def test_a_retrieval_brings_something_new_only_where_it_brings_something(
    supports: set[str], brought: Sequence[Sequence[str]]
) -> None:
    values = lookups_of(_asked(*supports), [_retrieved(*each) for each in brought])
    known, reported, any_support, new, share, whole, excluding, losing = values
    assert len(values) == len(LOOKUPS)
    assert known == 1
    assert len(supports) >= round(share * len(supports)) >= new
    assert len(brought) == reported >= any_support >= new
    assert (share == 1) == bool(whole)
    assert excluding == losing == 0
