"""Nearest-neighbour search in a memory-mapped file of faiss.

faiss finds candidates in single precision, and their scores are recomputed in double precision. A
score thus does not depend on how the passage was found, and equal scores tie and sort by id.
"""

from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np

from scaar.core.types import DenseDescription, VectorMetric
from scaar.retriever.dense import Vectors
from scaar.retriever.local.metadata_rows import Array

VECTORS_FILE = "vectors.faiss"

_METRICS = {
    VectorMetric.INNER_PRODUCT: faiss.METRIC_INNER_PRODUCT,
    VectorMetric.L2: faiss.METRIC_L2,
}
_ADD_BATCH = 8_192
_SCORE_BATCH = 8_192
_EXTRA_CANDIDATES = 16
"""Candidates beyond the requested number, since rescoring may change their order."""
_ROUNDING = 2.0**-23
"""Twice the maximum relative error of an operation in single precision."""


class Near(NamedTuple):
    """A row and its score; a higher score is nearer."""

    row: int
    score: float


class VectorIndex:
    """The vectors of an index. Thread-safe."""

    def __init__(self, path: Path, dense: DenseDescription, *, longest: float) -> None:
        """Open the file.

        Raises:
            ValueError: the file is not a faiss index, or contains other vectors than described.
        """
        try:
            self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise ValueError(f"{path.name} is not a faiss index") from error
        self._metric, self._hnsw = dense.settings.metric, dense.settings.hnsw
        self._longest = longest
        kind = faiss.IndexFlat if self._hnsw is None else faiss.IndexHNSWFlat
        found = (isinstance(self._index, kind), self._index.d, self._index.metric_type)
        if found != (True, dense.width, _METRICS[self._metric]):
            raise ValueError(f"{path.name} contains other vectors")
        self._flat = self._index
        if self._hnsw is not None:
            self._flat = faiss.downcast_index(self._index.storage)
        self.count: int = self._flat.ntotal
        flat: Vectors = faiss.rev_swig_ptr(self._flat.get_xb(), self.count * dense.width)
        self.vectors = flat.reshape(self.count, dense.width)

    def nearest(
        self, query: Vectors, top_k: int, id_ranks: Array, *, allowed: Array | None = None
    ) -> list[Near]:
        """Return the rows with the highest scores, ties by ``id_ranks``, among those ``allowed``.

        The search is exact, except with HNSW. HNSW is exact too if rows are restricted, if there
        are at most ``ef_search`` vectors, or if the graph finds too few.
        """
        if self._hnsw is not None and allowed is None and self._hnsw.ef_search < self.count:
            count = max(top_k, self._hnsw.ef_search)
            parameters = faiss.SearchParametersHNSW(efSearch=count)
            rows = self._candidates(query, count, parameters)[0]
            if len(rows) >= min(top_k, self.count):
                return self._best(rows, self._scores(query, rows), top_k, id_ranks)
        return self._exact(query, top_k, id_ranks, allowed)

    def _exact(
        self, query: Vectors, top_k: int, id_ranks: Array, allowed: Array | None
    ) -> list[Near]:
        count = self.count if allowed is None else len(allowed)
        if not count:
            return []
        parameters = None
        if allowed is not None:
            selected = np.ascontiguousarray(allowed, dtype=np.int64)
            parameters = faiss.SearchParameters(sel=faiss.IDSelectorArray(selected))
        requested = min(count, top_k + _EXTRA_CANDIDATES)
        while True:
            rows, last = self._candidates(query, requested, parameters)
            best = self._best(rows, self._scores(query, rows), top_k, id_ranks)
            # Rows that faiss omitted may be slightly nearer than its last candidate.
            if requested == count or best[-1].score > last + self._slack(query, last):
                return best
            requested = min(count, 4 * requested)

    def _candidates(self, query: Vectors, count: int, parameters: Any) -> tuple[Array, float]:
        """Return the ``count`` nearest rows according to faiss, and the score of the last one."""
        hnsw = isinstance(parameters, faiss.SearchParametersHNSW)
        index = self._index if hnsw else self._flat
        found, rows = index.search(query[np.newaxis], count, params=parameters)
        there = rows[0] >= 0
        sign = 1.0 if self._metric is VectorMetric.INNER_PRODUCT else -1.0
        last = sign * float(found[0][there][-1]) if there.any() else 0.0
        return rows[0][there], last

    def _scores(self, query: Vectors, rows: Array) -> Array:
        wide = query.astype(np.float64)
        scores = np.empty(len(rows), dtype=np.float64)
        for start in range(0, len(rows), _SCORE_BATCH):
            part = slice(start, start + _SCORE_BATCH)
            vectors = self.vectors[rows[part]].astype(np.float64)
            if self._metric is VectorMetric.INNER_PRODUCT:
                scores[part] = (vectors * wide).sum(axis=1)
            else:
                scores[part] = -((vectors - wide) ** 2).sum(axis=1)
        return scores

    def _best(self, rows: Array, scores: Array, top_k: int, id_ranks: Array) -> list[Near]:
        order = np.lexsort((id_ranks[rows], -scores))[:top_k]
        # Adding 0.0 turns -0.0 into 0.0.
        return [Near(int(rows[each]), float(scores[each]) + 0.0) for each in order]

    def _slack(self, query: Vectors, last: float) -> float:
        """Return the maximum error of single precision."""
        steps = (len(query) + 2) * _ROUNDING
        if self._metric is VectorMetric.L2:
            return steps * abs(last)
        return steps * float(np.linalg.norm(query)) * self._longest


def write_vectors(raw: Path, dense: DenseDescription, path: Path) -> float:
    """Write the faiss file of vectors that are in a file of raw numbers.

    Return the length of the longest vector. Equal vectors give equal bytes, because one thread
    builds the graph in steps of constant size.
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
    for start in range(0, len(vectors), _ADD_BATCH):
        part = np.ascontiguousarray(vectors[start : start + _ADD_BATCH])
        index.add(part)
        longest = max(longest, float(np.linalg.norm(part, axis=1).max()))
    faiss.write_index(index, str(path))
    return longest
