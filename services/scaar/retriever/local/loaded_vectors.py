"""Vector index open for searches, memory-mapped completely."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from scaar.core.types import DenseDescription, IndexCheck, Passage
from scaar.retriever.dense import VectorLookup, Vectors, encode, encoded_text
from scaar.retriever.local.manifest import Manifest
from scaar.retriever.local.metadata_rows import Array
from scaar.retriever.local.one_ranking import OneRanking
from scaar.retriever.local.stored_passages import (
    UNREADABLE,
    Scored,
    TextAnalysis,
)
from scaar.retriever.local.vector_index import VECTORS_FILE, VectorIndex

_ENCODE_BATCH = 32
_CHECK_BATCH = 8_192


class LoadedVectors(OneRanking):
    """A vector index. Searches return the nearest passages, at any distance."""

    def __init__(self, folder: Path, manifest: Manifest, dense: DenseDescription) -> None:
        super().__init__(folder, manifest)
        self._dense = dense
        self._index = VectorIndex(folder / VECTORS_FILE, dense, longest=manifest.longest)
        self._check_counts(search_files_fit=self._index.count == manifest.passages)

    @property
    def vectors(self) -> Vectors:
        """One row per passage, [passages, width]."""
        return self._index.vectors

    def analysed(self, queries: Sequence[str], analysis: TextAnalysis) -> Iterator[Vectors]:
        encoder = analysis.configured_encoder.check(self.manifest.name, self._dense)
        for start in range(0, len(queries), _ENCODE_BATCH):
            yield from encode(encoder, queries[start : start + _ENCODE_BATCH])

    def best(self, query: Vectors, top_k: int, *, allowed: Array | None) -> Sequence[Scored]:
        try:
            return self._index.nearest(query, top_k, self.id_ranks, allowed=allowed)
        except UNREADABLE as error:
            raise self._inconsistent() from error

    def scored(self, query: Vectors, rows: Array) -> Sequence[Scored]:
        return self.best(query, len(rows), allowed=rows)

    def extra_checks(self) -> Iterator[IndexCheck]:
        longest = 0.0
        for start in range(0, len(self.vectors), _CHECK_BATCH):
            lengths = np.linalg.norm(self.vectors[start : start + _CHECK_BATCH], axis=1)
            longest = max(longest, float(np.nan_to_num(lengths, nan=np.inf).max()))
        text = f"{len(self.vectors):,} by {self._dense.encoder}, {self._dense.width} wide"
        yield IndexCheck("vectors", text, passed=longest == self.manifest.longest)

    def vector_lookup(self) -> VectorLookup:
        """Return a lookup of the vectors of passages whose title and text are in the index."""
        rows = {each.id: row for row, each in enumerate(self.passages())}

        def vector_of(passage: Passage) -> "Vectors | None":
            row = rows.get(passage.id)
            if row is None or encoded_text(self.passage(row)) != encoded_text(passage):
                return None
            vector: Vectors = self.vectors[row]
            return vector

        return vector_of
