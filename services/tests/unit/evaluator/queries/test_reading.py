"""Exclusion and its control on a retriever that ranks passages as a table says."""

from collections.abc import Mapping, Sequence
from functools import partial

import pytest

from scaar.core.errors import ScaarError
from scaar.core.ports import Retriever
from scaar.core.types import ReadPassage, RetrievedPassage, RetrieveRequest, RetrieveResult
from scaar.evaluator.studies.queries.formulations import Exclusion, plan_formulations
from scaar.evaluator.studies.queries.reading import Queries, Searches, depth_for, read_answer
from scaar.evaluator.studies.queries.records import CUTS, Reading

RANKED = {
    "makers": [f"m{n}" for n in range(40)],
    "films": ["m0", "m2", *(f"f{n}" for n in range(40))],
    "others": [f"o{n}" for n in range(40)],
}


class RankedRetriever(Retriever):
    def __init__(self, ranked: Mapping[str, Sequence[str]] = RANKED) -> None:
        self.ranked, self.requests = ranked, list[RetrieveRequest]()

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        self.requests.append(request)
        results = []
        for query in request.queries:
            left = [each for each in self.ranked[query] if each not in request.excluded_ids]
            results.append(
                tuple(
                    RetrievedPassage(each, "", "", 1.0 / rank, rank)
                    for rank, each in enumerate(left[: request.top_k], 1)
                )
            )
        return RetrieveResult(request.index, "v", tuple(results))


async def read(
    answer: Sequence[tuple[str, ...]],
    exclusion: Exclusion,
    supports: Sequence[str],
    extra: tuple[int, ...] = (),
) -> tuple[tuple[Reading, ...], ...]:
    variant = plan_formulations(["question"], [50], [None], [exclusion], extra)[-1]
    searches = Searches(RankedRetriever(), "films", "v", depth=depth_for(len(answer), variant))
    await searches.prepare(each for some in answer for each in some)
    found = await read_answer(
        searches, [partial(constant, each) for each in answer], variant, supports
    )
    return tuple(tuple(reading for _, reading in by_cut) for by_cut in found)


def constant(queries: Queries, read: Sequence[ReadPassage]) -> Queries:
    """The queries of a formulation that does not depend on the passages read."""
    return queries


async def test_without_exclusion_a_query_reads_the_same_passages_again() -> None:
    first, again = await read([("makers",), ("makers",)], Exclusion.NONE, ["m0", "m4"])
    assert [each.ranks for each in first] == [(1, 0), (1, 5), (1, 5)]
    assert [each.ranks for each in again] == [each.ranks for each in first]
    assert [each.fresh for each in first] == list(CUTS)
    assert [each.fresh for each in again] == [0, 0, 0]


async def test_exclusion_reads_on_from_the_passages_read_at_the_same_cut() -> None:
    first, second = await read([("makers",), ("films",)], Exclusion.SEEN, ["m2", "f2", "m4"])
    assert [each.ranks for each in first] == [(3, 0, 0), (3, 0, 5), (3, 0, 5)]
    # At 3, m0, m1 and m2 are excluded: f0 is first.
    assert [each.ranks for each in second] == [(0, 3, 0)] * 3
    assert [each.fresh for each in second] == list(CUTS)
    # "films" has m2 at the second rank.
    assert [each.withheld for each in second] == [1, 1, 1]


async def test_the_control_reads_deeper_until_it_has_as_many_distinct_passages() -> None:
    # With exclusion 6, 10 and 20 distinct passages; the two queries share m0 and m2.
    first, second = await read([("makers",), ("films",)], Exclusion.MATCHED_DEPTH, ["f2", "o1"])
    assert [each.passages for each in first] == [4, 6, 11]
    assert [a.fresh + b.fresh for a, b in zip(first, second, strict=True)] == [6, 10, 20]
    assert [each.ranks for each in second] == [(0, 0), (5, 0), (5, 0)]
    assert [each.withheld for each in second] == [0, 0, 0]


async def test_the_control_of_equal_queries_reads_as_deep_as_all_retrievals_together() -> None:
    readings = await read([("makers",)] * 3, Exclusion.MATCHED_DEPTH, ["m8"])
    assert [each.passages for each in readings[0]] == [9, 15, 30]
    assert readings[0][0].ranks == (9,)


async def test_extra_passages_are_read_at_every_cut_without_exclusion() -> None:
    first, second = await read([("makers",), ("films",)], Exclusion.NONE, ["m4", "f2"], (2,))
    assert [each.passages for each in first] == [5, 7, 12]
    assert [each.ranks for each in first] == [(5, 0)] * 3
    assert [each.fresh for each in second] == [3, 5, 10]


async def test_fused_queries_are_excluded_from_together_and_a_refused_sentence_reads_nothing() -> (
    None
):
    answer = [("makers", "films"), (), ("makers", "films")]
    first, refused, last = await read(answer, Exclusion.SEEN, ["m0", "m2", "f0"])
    # m0 and m2 are in both lists and lead.
    assert first[0].ranks == (1, 2, 0)
    assert refused[0] == Reading((0, 0, 0))
    assert (last[0].fresh, last[0].withheld) == (3, 2)


async def test_an_index_that_changes_ends_the_run() -> None:
    searches = Searches(RankedRetriever(), "films", "w", depth=10)
    with pytest.raises(ScaarError, match="'films' changed during the run"):
        await searches.prepare(["makers"])


async def test_a_query_can_depend_on_the_passages_that_earlier_retrievals_read() -> None:
    def first_sought(read: Sequence[ReadPassage]) -> Queries:
        # "films" once makers were read at the first two ranks and at a third one.
        return ("films" if [each.rank for each in read[:3]] == [1, 2, 3] else "makers",)

    for exclusion in Exclusion:
        variant = plan_formulations(["question"], [50], [None], [exclusion])[0]
        searches = Searches(RankedRetriever(), "films", "v", depth=depth_for(2, variant))
        answer = [first_sought, first_sought]
        first, second = await read_answer(searches, answer, variant, ["f0"])
        assert {queries for queries, _ in first} == {("makers",)}
        assert {queries for queries, _ in second} == {("films",)}
        assert all(reading.ranks[0] for _, reading in second)
