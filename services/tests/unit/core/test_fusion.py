"""Queries with two searches, and reciprocal rank fusion."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.fusion import fuse
from scaar.core.types import Passage, PassagesRetrieved, QueryBuilt, RetrievedPassage
from scaar.testing.fakes import InMemoryRetriever

from .scripted import UNSURE_OF_PARIS, answer_in, asking, only, parts

IDS = "abcdef"

results = st.lists(
    st.permutations(IDS).flatmap(
        lambda ids: st.integers(0, len(ids)).map(lambda count: ranked(*ids[:count]))
    ),
    max_size=3,
)


def ranked(*ids: str) -> tuple[RetrievedPassage, ...]:
    return tuple(
        RetrievedPassage(each, "", each, 9.0 - rank, rank) for rank, each in enumerate(ids, 1)
    )


@given(results=results, top_k=st.integers(1, 8))
def test_a_passage_scores_the_sum_of_its_reciprocal_ranks(
    results: list[tuple[RetrievedPassage, ...]], top_k: int
) -> None:
    expected = dict.fromkeys(IDS, 0.0)
    for found in chain(*results):
        expected[found.id] += 1 / (60 + found.rank)
    order = sorted(filter(expected.get, IDS), key=lambda each: (-expected[each], each))
    fused = fuse(results, top_k)
    assert [each.id for each in fused] == order[:top_k]
    assert [each.rank for each in fused] == list(range(1, len(fused) + 1))
    assert [each.score for each in fused] == pytest.approx([expected[each.id] for each in fused])


def test_a_passage_of_both_results_comes_before_the_first_of_either() -> None:
    assert [each.id for each in fuse([ranked("a", "b"), ranked("c", "b")], 2)] == ["b", "a"]


async def test_a_fused_query_is_one_retrieval_and_two_searches() -> None:
    passages = [Passage(f"p{n}", "Ada", "Ada was born in London.") for n in range(12)]
    ports = parts(UNSURE_OF_PARIS, retriever=InMemoryRetriever({"lab": passages}))
    events = await ports.events(asking("scaar", query="fused", top_k=2))
    (built,) = only(QueryBuilt, events)
    assert built.query.fused_with not in ("", built.query.text)
    (retrieved,) = only(PassagesRetrieved, events)
    assert [each.rank for each in retrieved.passages] == [1, 2]
    assert retrieved.passages[0].score == pytest.approx(2 / 61)
    usage = answer_in(events).usage
    assert (usage.retrievals, usage.searches) == (1, 2)


async def test_other_queries_are_one_search_each() -> None:
    events = await parts(UNSURE_OF_PARIS).events(asking("flare"))
    usage = answer_in(events).usage
    assert (usage.retrievals, usage.searches) == (1, 1)
