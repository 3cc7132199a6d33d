"""Conformance suite of retrievers that rerank passages."""

import math
import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from scaar.core.ports import IndexKeeper
from scaar.core.types import (
    DenseSettings,
    Filter,
    MetadataField,
    Passage,
    RankedScore,
    RerankSettings,
    RetrievedPassage,
    RetrieveRequest,
    ScoreParts,
    SearchMode,
)

NAME = "common-words"
"""Name of the cross-encoder of the retriever under test."""

_ODD = (MetadataField("part", ("odd",)),)
_PASSAGES = (
    Passage("p1", "Etna", "volcano", _ODD),
    Passage("p2", "Hekla", "a volcano of Iceland, and Iceland is cold", _ODD),
    Passage("p3", "Fuji", "a volcano of Japan with cold snow"),
    Passage("p4", "Reykjavik", "Iceland Iceland Iceland cold cold", _ODD),
    Passage("p5", "Lisbon", "a city of Portugal"),
    Passage("p6", "Fuji", "a volcano of Japan with cold snow"),
)
_QUERIES = ("cold volcano", "volcano of Japan", "Iceland", "Portugal")
WORDS = tuple(f"{each.title} {each.text}" for each in _PASSAGES)
"""Texts with the words of the suite, for models that know only these words."""


class RerankingConformance:
    """Derive from this class; provide the fixture ``retriever``, without indexes.

    The retriever has an encoder of the ``WORDS``, and a cross-encoder of the ``NAME`` that
    computes :func:`relevance`.
    """

    @pytest.fixture
    def retriever(self) -> IndexKeeper:
        """The retriever under test."""
        raise NotImplementedError

    async def test_the_description_of_an_index_names_the_cross_encoder(
        self, retriever: IndexKeeper
    ) -> None:
        built = await retriever.index_passages("geo", _each(), metadata_fields=("part",))
        assert built.index.reranker == NAME
        assert await retriever.describe_index("geo") == built.index
        assert await retriever.list_indexes() == (built.index,)

    @pytest.mark.parametrize(
        ("dense", "modes"),
        [
            (None, (SearchMode.WORDS, SearchMode.INDEX)),
            (DenseSettings(), (SearchMode.VECTORS, SearchMode.INDEX)),
            (DenseSettings(words=True), tuple(SearchMode)),
        ],
    )
    async def test_the_best_passages_of_a_search_are_ordered_by_relevance(
        self, retriever: IndexKeeper, dense: DenseSettings | None, modes: tuple[SearchMode, ...]
    ) -> None:
        built = await retriever.index_passages(
            "geo", _each(), metadata_fields=("part",), dense=dense
        )
        for mode in modes:
            alone = built.index.modes[-1] if mode is SearchMode.INDEX else mode
            for top_k, depth, filters, excluded in (
                (2, 30, (), ()),
                (1, 3, (), ()),
                (3, 1, (), ()),
                (100, 100, (), ("p2", "p6")),
                (2, 5, (Filter("part", ("odd",)),), ()),
            ):
                request = RetrieveRequest(_QUERIES, top_k, "geo", filters, excluded, mode=mode)
                reranked = replace(request, rerank=RerankSettings(depth))
                found = await retriever.retrieve(reranked)
                searched = await retriever.retrieve(replace(request, top_k=max(top_k, depth)))
                assert (found.index, found.version) == (searched.index, searched.version)
                for query, passages, best in zip(
                    _QUERIES, found.results, searched.results, strict=True
                ):
                    expected = _reranked(query, best, alone)[:top_k]
                    assert _rounded(passages) == _rounded(expected)

    async def test_a_search_without_reranking_is_as_of_a_retriever_without_it(
        self, retriever: IndexKeeper
    ) -> None:
        await retriever.index_passages("geo", _each(), metadata_fields=("part",))
        found = await retriever.retrieve(RetrieveRequest(_QUERIES, 3, "geo"))
        assert all(each.score_parts is None for passages in found.results for each in passages)

    async def test_no_query_and_no_passage_give_no_result(self, retriever: IndexKeeper) -> None:
        await retriever.index_passages("geo", _each(), metadata_fields=("part",))
        for queries, results in (((), ()), (("zebra",), ((),))):
            request = RetrieveRequest(queries, 3, "geo", rerank=RerankSettings())
            assert (await retriever.retrieve(request)).results == results


def relevance(query: str, text: str) -> float:
    """Return the relevance of a text: the sigmoid of a tenth of the pairs of equal words."""
    asked, read = Counter(_words(query)), Counter(_words(text))
    return 1 / (1 + math.exp(-0.1 * sum(asked[word] * read[word] for word in asked)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


async def _each() -> AsyncIterator[Passage]:
    for passage in _PASSAGES:
        yield passage


def _reranked(
    query: str, passages: tuple[RetrievedPassage, ...], mode: SearchMode
) -> list[RetrievedPassage]:
    found = []
    for each in passages:
        part = RankedScore(each.rank, each.score)
        given = {
            SearchMode.WORDS: ScoreParts(words=part),
            SearchMode.VECTORS: ScoreParts(None, part),
        }
        parts = each.score_parts or given[mode]
        score = relevance(query, f"{each.title} {each.text}")
        found.append(replace(each, score=score, score_parts=replace(parts, rerank=score)))
    found.sort(key=lambda each: (-each.score, each.id))
    return [replace(each, rank=rank) for rank, each in enumerate(found, 1)]


def _rounded(passages: tuple[RetrievedPassage, ...] | list[RetrievedPassage]) -> list[object]:
    """Return passages without the digits that depend on the batch of a model."""
    return [
        replace(
            each,
            score=round(each.score, 6),
            score_parts=each.score_parts
            and replace(each.score_parts, rerank=round(each.score_parts.rerank or 0.0, 6)),
        )
        for each in passages
    ]
