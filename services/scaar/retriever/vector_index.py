"""Vectors in a file that faiss wrote, memory-mapped, and the nearest of them to a query.

A search takes candidates from faiss, in single precision, and weighs them again in double: so a
score is the same however the passage was found, and equal ones tie and go by passage id.
"""

from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np

from scaar.core.types import DenseDescription, VectorMetric
from scaar.retriever.dense import Vectors
from scaar.retriever.metadata_rows import Array

VECTORS_FILE = "vectors.faiss"

_METRICS = {
    VectorMetric.INNER_PRODUCT: faiss.METRIC_INNER_PRODUCT,
    VectorMetric.L2: faiss.METRIC_L2,
}
_ADDED_AT_ONCE = 8_192
_WEIGHED_AT_ONCE = 8_192
_MORE = 16
"""Candidates beyond those asked for, among which the order may still change."""
_ROUNDING = 2.0**-23
"""Twice the most that an operation in single precision is off."""


class Near(NamedTuple):
    """A row and its score, higher being nearer."""

    row: int
    score: float


class VectorIndex:
    """The vectors of an index, searched by several threads at once."""

    def __init__(self, path: Path, dense: DenseDescription, *, longest: float) -> None:
        """Opens the file.

        Raises:
            ValueError: it is none, or of other vectors than it should be.
        """
        try:
            self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise ValueError(f"{path.name} is none of faiss") from error
        self._metric, self._hnsw = dense.settings.metric, dense.settings.hnsw
        self._longest = longest
        kind = faiss.IndexFlat if self._hnsw is None else faiss.IndexHNSWFlat
        found = (isinstance(self._index, kind), self._index.d, self._index.metric_type)
        if found != (True, dense.width, _METRICS[self._metric]):
            raise ValueError(f"{path.name} is of other vectors")
        self._flat = self._index
        if self._hnsw is not None:
            self._flat = faiss.downcast_index(self._index.storage)
        self.count: int = self._flat.ntotal
        flat: Vectors = faiss.rev_swig_ptr(self._flat.get_xb(), self.count * dense.width)
        self.vectors = flat.reshape(self.count, dense.width)

    def nearest(
        self, query: Vectors, top_k: int, id_ranks: Array, *, among: Array | None = None
    ) -> list[Near]:
        """The rows with the highest scores, ties by ``id_ranks``; only of those ``among``.

        Exact but for HNSW; that too where rows are named, where there are no more vectors than it
        would look at, and where it finds too few.
        """
        if self._hnsw is not None and among is None and self._hnsw.ef_search < self.count:
            wanted = max(top_k, self._hnsw.ef_search)
            looking = faiss.SearchParametersHNSW(efSearch=wanted)
            rows = self._candidates(query, wanted, looking)[0]
            if len(rows) >= min(top_k, self.count):
                return self._best(rows, self._scores(query, rows), top_k, id_ranks)
        return self._exact(query, top_k, id_ranks, among)

    def _exact(
        self, query: Vectors, top_k: int, id_ranks: Array, among: Array | None
    ) -> list[Near]:
        count = self.count if among is None else len(among)
        if not count:
            return []
        only = None
        if among is not None:
            rows_of = np.ascontiguousarray(among, dtype=np.int64)
            only = faiss.SearchParameters(sel=faiss.IDSelectorArray(rows_of))
        wanted = min(count, top_k + _MORE)
        while True:
            rows, last = self._candidates(query, wanted, only)
            best = self._best(rows, self._scores(query, rows), top_k, id_ranks)
            # What faiss left out may be as near as its last candidate, and a little nearer.
            if wanted == count or best[-1].score > last + self._slack(query, last):
                return best
            wanted = min(count, 4 * wanted)

    def _candidates(self, query: Vectors, wanted: int, how: Any) -> tuple[Array, float]:
        """So many rows as faiss has them, and the score of the last one."""
        index = self._index if isinstance(how, faiss.SearchParametersHNSW) else self._flat
        found, rows = index.search(query[np.newaxis], wanted, params=how)
        there = rows[0] >= 0
        sign = 1.0 if self._metric is VectorMetric.INNER_PRODUCT else -1.0
        last = sign * float(found[0][there][-1]) if there.any() else 0.0
        return rows[0][there], last

    def _scores(self, query: Vectors, rows: Array) -> Array:
        wide = query.astype(np.float64)
        scores = np.empty(len(rows), dtype=np.float64)
        for start in range(0, len(rows), _WEIGHED_AT_ONCE):
            part = slice(start, start + _WEIGHED_AT_ONCE)
            vectors = self.vectors[rows[part]].astype(np.float64)
            if self._metric is VectorMetric.INNER_PRODUCT:
                scores[part] = (vectors * wide).sum(axis=1)
            else:
                scores[part] = -((vectors - wide) ** 2).sum(axis=1)
        return scores

    def _best(self, rows: Array, scores: Array, top_k: int, id_ranks: Array) -> list[Near]:
        order = np.lexsort((id_ranks[rows], -scores))[:top_k]
        # No zero below zero: it would be written so.
        return [Near(int(rows[each]), float(scores[each]) + 0.0) for each in order]

    def _slack(self, query: Vectors, last: float) -> float:
        """The most by which single precision may be off."""
        steps = (len(query) + 2) * _ROUNDING
        if self._metric is VectorMetric.L2:
            return steps * abs(last)
        return steps * float(np.linalg.norm(query)) * self._longest


def write_vectors(raw: Path, dense: DenseDescription, path: Path) -> float:
    """Writes the file of an index whose vectors are in a file as bare numbers.

    Gives the length of the longest. The same vectors give the same bytes: the graph is made by
    one thread, in steps of one size.
    """
    faiss.omp_set_num_threads(1)
    vectors: Vectors = np.memmap(raw, dtype=np.float32, mode="r").reshape(-1, dense.width)
    metric, graph = _METRICS[dense.settings.metric], dense.settings.hnsw
    if graph is None:
        index = faiss.IndexFlat(dense.width, metric)
    else:
        index = faiss.IndexHNSWFlat(dense.width, graph.m, metric)
        index.hnsw.efConstruction = graph.ef_construction
        index.hnsw.efSearch = graph.ef_search
    longest = 0.0
    for start in range(0, len(vectors), _ADDED_AT_ONCE):
        part = np.ascontiguousarray(vectors[start : start + _ADDED_AT_ONCE])
        index.add(part)
        longest = max(longest, float(np.linalg.norm(part, axis=1).max()))
    faiss.write_index(index, str(path))
    return longest
