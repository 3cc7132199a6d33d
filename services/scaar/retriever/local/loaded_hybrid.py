"""Index of words and vectors open for searches by either, and by both."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from scaar.core.types import (
    HybridSettings,
    IndexCheck,
    RetrievedPassage,
    RetrieveRequest,
    SearchMode,
)
from scaar.retriever.dense import VectorLookup
from scaar.retriever.hybrid import depth_of, fuse
from scaar.retriever.local.loaded_vectors import LoadedVectors
from scaar.retriever.local.manifest import Manifest
from scaar.retriever.local.one_ranking import OneRanking
from scaar.retriever.local.stored_passages import Scored, StoredPassages, TextAnalysis


class LoadedHybrid(StoredPassages):
    """Words and vectors of the same passages, whose rankings a hybrid search fuses."""

    def __init__(
        self, folder: Path, manifest: Manifest, words: OneRanking, vectors: LoadedVectors
    ) -> None:
        super().__init__(folder, manifest)
        self._words, self._vectors = words, vectors

    def found(
        self, request: RetrieveRequest, mode: SearchMode, analysis: TextAnalysis
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        if mode is SearchMode.WORDS:
            return self._words.found(request, mode, analysis)
        if mode is SearchMode.VECTORS:
            return self._vectors.found(request, mode, analysis)
        # The fused passages state their parts in any case.
        return self._fused(request, request.hybrid or HybridSettings(), analysis)

    def extra_checks(self) -> Iterator[IndexCheck]:
        yield from self._vectors.extra_checks()

    def vector_lookup(self) -> VectorLookup:
        return self._vectors.vector_lookup()

    def _fused(
        self, request: RetrieveRequest, settings: HybridSettings, analysis: TextAnalysis
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        """Yield the best passages for each query by both rankings, ties by passage id."""
        queries, depth = request.queries, depth_of(settings, request.top_k)
        allowed = self.matching_rows(request.filters)
        excluded = frozenset(request.excluded_ids)

        def ranking(by: OneRanking, query: Any) -> Iterable[Scored]:
            found = by.best(query, depth + len(excluded), allowed=allowed)
            return self.kept(found, depth, excluded)

        both = self._words.analysed(queries, analysis), self._vectors.analysed(queries, analysis)
        for words, vector in zip(*both, strict=True):
            fused = fuse(
                ranking(self._words, words),
                ranking(self._vectors, vector),
                settings,
                request.top_k,
                order=lambda row: int(self.id_ranks[row]),
            )
            found = self.retrieved((each.key, each.score) for each in fused)
            yield tuple(
                replace(passage, score_parts=each.parts)
                for passage, each in zip(found, fused, strict=True)
            )
