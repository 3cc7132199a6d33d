"""Conformance suite of retrievers whose indexes have words and vectors."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.ports import IndexKeeper
from scaar.core.types import (
    DenseSettings,
    Filter,
    HybridSettings,
    IndexMode,
    MetadataField,
    Passage,
    RankedScore,
    RerankSettings,
    RetrievedPassage,
    RetrieveRequest,
    ScoreParts,
    SearchMode,
)

BOTH = DenseSettings(words=True)
_ODD, _EVEN = (MetadataField("part", (each,)) for each in ("odd", "even"))
_VOLCANOES = (
    Passage("p3", "Fuji", "Fuji is a volcano of Japan.", (_ODD,)),
    Passage("p1", "Etna", "Etna is a volcano, the volcano of Sicily.", (_ODD,)),
    Passage("p2", "Etna", "Etna is a volcano, the volcano of Sicily.", (_EVEN,)),
    Passage("p4", "Hekla", "Hekla is a volcano of Iceland. Iceland has geysers.", (_EVEN,)),
    Passage("p5", "Geysir", "The geysers of Iceland are hot.", (_ODD,)),
    Passage("p6", "Lisbon", "Lisbon is the capital of Portugal."),
    Passage("p7", "Paris", "Paris is the capital of France, not a volcano.", (_EVEN,)),
)
WORDS = tuple(f"{each.title} {each.text}" for each in _VOLCANOES)
"""Texts with the words of the suite, for an encoder that knows only these words."""

_QUERIES = ("a volcano of Iceland", "Etna Sicily", "the hot capital", "nothing of the kind")
_SETTINGS = (
    HybridSettings(),
    HybridSettings(rrf_k=1),
    HybridSettings(words_weight=3.0, vectors_weight=0.5),
    HybridSettings(rrf_k=2, candidates=2),
)


class HybridConformance:
    """Derive from this class; provide the fixture ``retriever``, without indexes.

    The retriever has an encoder of the ``WORDS``, and no reranker.
    """

    @pytest.fixture
    def retriever(self) -> IndexKeeper:
        """The retriever under test."""
        raise NotImplementedError

    async def test_an_index_of_both_is_described_with_its_modes(
        self, retriever: IndexKeeper
    ) -> None:
        built = await _build(retriever, BOTH)
        described = await retriever.describe_index("both")
        assert described.modes == (SearchMode.WORDS, SearchMode.VECTORS, SearchMode.HYBRID)
        assert described.dense is not None
        assert described.dense.settings == BOTH
        assert (described.version, described.k1 > 0) == (built, True)
        assert (await retriever.verify_index("both")).is_whole

    async def test_each_ranking_is_that_of_an_index_of_its_own(
        self, retriever: IndexKeeper
    ) -> None:
        await _build(retriever, BOTH)
        await _build(retriever, None, name="words")
        await _build(retriever, DenseSettings(), name="vectors")
        odd = (Filter("part", ("odd",)),)
        for mode in (SearchMode.WORDS, SearchMode.VECTORS):
            for filters, excluded, score_all in (
                ((), (), False),
                (odd, (), False),
                ((), ("p1", "p4"), False),
                (odd, ("p1",), True),
            ):
                request = RetrieveRequest(
                    _QUERIES, 3, mode.value, filters, excluded, score_all=score_all
                )
                alone = (await retriever.retrieve(request)).results
                named = (await retriever.retrieve(replace(request, mode=mode))).results
                found = await retriever.retrieve(replace(request, index="both", mode=mode))
                assert found.results == named == alone

    @pytest.mark.parametrize("settings", _SETTINGS)
    async def test_a_hybrid_search_fuses_both_rankings(
        self, retriever: IndexKeeper, settings: HybridSettings
    ) -> None:
        await _build(retriever, BOTH)
        odd = (Filter("part", ("odd",)),)
        for top_k, filters, excluded in (
            (3, (), ()),
            (100, (), ()),
            (2, odd, ()),
            (3, (), ("p4", "p1", "nobody")),
        ):
            request = RetrieveRequest(
                _QUERIES, top_k, "both", filters, excluded, hybrid=settings, mode=SearchMode.HYBRID
            )
            found = (await retriever.retrieve(request)).results
            depth = max(settings.candidates, top_k)
            rankings = [
                (await retriever.retrieve(each)).results
                for mode in (SearchMode.WORDS, SearchMode.VECTORS)
                for each in (replace(request, mode=mode, hybrid=None, top_k=min(depth, 100)),)
            ]
            for passages, words, vectors in zip(found, *rankings, strict=True):
                assert list(passages) == _fused(words, vectors, settings)[:top_k]

    async def test_an_index_of_both_is_searched_in_both_ways_by_default(
        self, retriever: IndexKeeper
    ) -> None:
        await _build(retriever, BOTH)
        request = RetrieveRequest(_QUERIES, 3, "both")
        explicit = replace(request, mode=SearchMode.HYBRID, hybrid=HybridSettings())
        assert await retriever.retrieve(request) == await retriever.retrieve(explicit)
        assert all((await retriever.retrieve(request)).results)

    async def test_equal_sums_go_by_id(self, retriever: IndexKeeper) -> None:
        await _build(retriever, BOTH)
        request = RetrieveRequest(("Etna Sicily volcano",), 2, "both")
        (passages,) = (await retriever.retrieve(request)).results
        assert [each.id for each in passages] == ["p1", "p2"]

    async def test_an_upsert_and_a_deletion_keep_words_and_vectors(
        self, retriever: IndexKeeper
    ) -> None:
        await _build(retriever, BOTH)
        changed = Passage("p6", "Kea", "Kea is a hot volcano.", (_ODD,))
        added = Passage("p8", "Iceland", "Iceland is hot.")
        await retriever.index_passages("both", _each((changed, added)), mode=IndexMode.UPSERT)
        assert await retriever.delete_passages("both", ("p7",)) == 1
        whole = [each for each in _VOLCANOES if each.id not in ("p6", "p7")]
        position = [each.id for each in _VOLCANOES].index("p6")
        whole.insert(position, changed)
        await _build(retriever, BOTH, name="rebuilt", passages=(*whole, added))
        request = RetrieveRequest(("a hot volcano", "Iceland"), 5, "both")
        for mode in SearchMode:
            found = await retriever.retrieve(replace(request, mode=mode))
            rebuilt = await retriever.retrieve(replace(request, mode=mode, index="rebuilt"))
            assert _rounded(found.results) == _rounded(rebuilt.results)
        assert (await retriever.verify_index("both")).is_whole

    async def test_a_mode_that_the_index_does_not_have_is_refused_by_name(
        self, retriever: IndexKeeper
    ) -> None:
        await _build(retriever, None, name="letters")
        await _build(retriever, DenseSettings(), name="points")
        for index, mode, has in (
            ("letters", SearchMode.VECTORS, "words"),
            ("letters", SearchMode.HYBRID, "words"),
            ("points", SearchMode.WORDS, "vectors"),
            ("points", SearchMode.HYBRID, "vectors"),
        ):
            with pytest.raises(
                CapabilityMissing, match=f"'{index}' cannot be searched in mode {mode}.*: {has};"
            ):
                await retriever.retrieve(RetrieveRequest(("volcano",), 1, index, mode=mode))

    async def test_wrong_stages_are_refused_by_their_place(self, retriever: IndexKeeper) -> None:
        await _build(retriever, BOTH)
        request = RetrieveRequest(("volcano",), 1, "both")
        many = replace(request, queries=("volcano",) * 21, rerank=RerankSettings(100))
        for wrong, field in (
            (replace(request, hybrid=HybridSettings(rrf_k=0)), "hybrid.rrf_k"),
            (replace(request, hybrid=HybridSettings(rrf_k=1001)), "hybrid.rrf_k"),
            (replace(request, hybrid=HybridSettings(candidates=1001)), "hybrid.candidates"),
            (replace(request, hybrid=HybridSettings(words_weight=0.0)), "hybrid.words_weight"),
            (replace(request, hybrid=HybridSettings(vectors_weight=1e4)), "hybrid.vectors_weight"),
            (replace(request, mode=SearchMode.WORDS, hybrid=HybridSettings()), "hybrid"),
            (replace(request, mode=SearchMode.HYBRID, score_all=True), "score_all"),
            (replace(request, rerank=RerankSettings(0)), "rerank.depth"),
            (replace(request, rerank=RerankSettings(101)), "rerank.depth"),
            (replace(request, rerank=RerankSettings(), score_all=True), "score_all"),
            (many, "queries"),
        ):
            with pytest.raises(InvalidRequest) as caught:
                await retriever.retrieve(wrong)
            assert [each.field for each in caught.value.violations] == [field]

    async def test_scores_of_every_passage_need_one_ranking(self, retriever: IndexKeeper) -> None:
        await _build(retriever, BOTH)
        request = RetrieveRequest(("volcano",), 1, "both", score_all=True)
        with pytest.raises(CapabilityMissing, match="score_all needs the mode words or vectors"):
            await retriever.retrieve(request)

    async def test_reranking_without_a_reranker_is_refused(self, retriever: IndexKeeper) -> None:
        await _build(retriever, BOTH)
        assert (await retriever.describe_index("both")).reranker == ""
        request = RetrieveRequest(("volcano",), 1, "both", rerank=RerankSettings())
        with pytest.raises(CapabilityMissing, match="'both' cannot be reranked"):
            await retriever.retrieve(request)

    async def test_an_upsert_with_other_settings_is_refused(self, retriever: IndexKeeper) -> None:
        await _build(retriever, BOTH)
        with pytest.raises(InvalidRequest, match="with words"):
            await retriever.index_passages(
                "both", _each(_VOLCANOES), mode=IndexMode.UPSERT, dense=DenseSettings()
            )


async def _build(
    retriever: IndexKeeper,
    dense: DenseSettings | None,
    *,
    name: str = "both",
    passages: Iterable[Passage] = _VOLCANOES,
) -> str:
    built = await retriever.index_passages(
        name, _each(passages), metadata_fields=("part",), dense=dense
    )
    return built.index.version


async def _each(passages: Iterable[Passage]) -> AsyncIterator[Passage]:
    for passage in passages:
        yield passage


def _fused(
    words: Sequence[RetrievedPassage],
    vectors: Sequence[RetrievedPassage],
    settings: HybridSettings,
) -> list[RetrievedPassage]:
    """Fuse two whole rankings, as the definition of reciprocal rank fusion states it."""
    sums = {
        each.id: sum(
            (
                Fraction(weight) / (settings.rrf_k + found.rank)
                for ranking, weight in (
                    (words, settings.words_weight),
                    (vectors, settings.vectors_weight),
                )
                for found in ranking
                if found.id == each.id
            ),
            Fraction(0),
        )
        for each in (*words, *vectors)
    }
    passages = {each.id: each for each in (*words, *vectors)}
    best = sorted(sums, key=lambda passage_id: (-sums[passage_id], passage_id))
    return [
        replace(
            passages[passage_id],
            score=float(sums[passage_id]),
            rank=rank,
            score_parts=ScoreParts(
                _part(words, passage_id),
                _part(vectors, passage_id),
                RankedScore(rank, float(sums[passage_id])),
            ),
        )
        for rank, passage_id in enumerate(best, 1)
    ]


def _part(ranking: Sequence[RetrievedPassage], passage_id: str) -> RankedScore | None:
    parts = (RankedScore(each.rank, each.score) for each in ranking if each.id == passage_id)
    return next(parts, None)


def _rounded(results: Sequence[Sequence[RetrievedPassage]]) -> list[list[tuple[str, float]]]:
    """Return ids and scores, without the digits that depend on the batch of the encoder."""
    return [[(each.id, round(each.score, 5)) for each in passages] for passages in results]
