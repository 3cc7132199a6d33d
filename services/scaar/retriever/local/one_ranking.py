"""Search of an index by one ranking, of words or of vectors."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from scaar.core.types import RetrievedPassage, RetrieveRequest, SearchMode
from scaar.retriever.local.metadata_rows import Array
from scaar.retriever.local.stored_passages import Scored, StoredPassages, TextAnalysis
from scaar.retriever.reranking.stage import with_parts


class OneRanking(StoredPassages):
    """An index that ranks passages in one way."""

    @abstractmethod
    def analysed(self, queries: Sequence[str], analysis: TextAnalysis) -> Iterator[Any]:
        """Yield each query in the form in which the index is searched."""

    @abstractmethod
    def best(self, query: Any, top_k: int, *, allowed: Array | None) -> Iterable[Scored]:
        """Return the best rows for an analysed query, ties by id, among the ``allowed`` ones."""

    @abstractmethod
    def scored(self, query: Any, rows: Array) -> Iterable[Scored]:
        """Return the rows by their exact scores for an analysed query, best first, ties by id."""

    def search(
        self,
        queries: Sequence[str],
        top_k: int,
        analysis: TextAnalysis,
        *,
        allowed: Array | None = None,
        excluded: Collection[str] = (),
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        """Yield the best passages for each query, ties by id, among the ``allowed`` rows.

        Passages with ``excluded`` ids are left out. Scores depend on neither.
        """
        for query in self.analysed(queries, analysis):
            found = self.best(query, top_k + len(excluded), allowed=allowed)
            yield self.retrieved(self.kept(found, top_k, excluded))

    def search_and_score_all(
        self,
        queries: Sequence[str],
        top_k: int,
        analysis: TextAnalysis,
        *,
        allowed: Array | None = None,
        excluded: Collection[str] = (),
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        """Yield for each query, by its exact scores, the passages that any of the queries finds."""
        analysed, rows = list(self.analysed(queries, analysis)), set[int]()
        for query in analysed:
            found = self.best(query, top_k + len(excluded), allowed=allowed)
            rows.update(row for row, _ in self.kept(found, top_k, excluded))
        for query in analysed:
            yield self.retrieved(self.scored(query, np.array(sorted(rows), dtype=np.int64)))

    def found(
        self, request: RetrieveRequest, mode: SearchMode, analysis: TextAnalysis
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        search = self.search_and_score_all if request.score_all else self.search
        found = search(
            request.queries,
            request.top_k,
            analysis,
            allowed=self.matching_rows(request.filters),
            excluded=frozenset(request.excluded_ids),
        )
        return (with_parts(passages, request, mode) for passages in found)
