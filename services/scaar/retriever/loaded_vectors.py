"""An index of vectors opened for searching, all of it memory-mapped."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from scaar.core.types import DenseDescription, IndexCheck, Passage, RetrievedPassage
from scaar.retriever.dense import Known, Vectors, encode, encoded_text
from scaar.retriever.manifest import Manifest
from scaar.retriever.metadata_rows import Array
from scaar.retriever.stored_passages import UNREADABLE, Reading, StoredPassages
from scaar.retriever.vector_index import VECTORS_FILE, VectorIndex

_ENCODED_AT_ONCE = 32
_CHECKED_AT_ONCE = 8_192


class LoadedVectors(StoredPassages):
    """An index of vectors: the nearest passages are found, however far they are."""

    def __init__(self, folder: Path, manifest: Manifest, dense: DenseDescription) -> None:
        super().__init__(folder, manifest)
        self._dense = dense
        self._index = VectorIndex(folder / VECTORS_FILE, dense, longest=manifest.longest)
        self._check_counts(searched_fit=self._index.count == manifest.passages)

    @property
    def vectors(self) -> Vectors:
        """A row for each passage."""
        return self._index.vectors

    def found(
        self, queries: Sequence[str], top_k: int, reading: Reading, *, among: Array | None = None
    ) -> Iterator[tuple[RetrievedPassage, ...]]:
        encoder = reading.own_encoder.check(self.manifest.name, self._dense)
        for start in range(0, len(queries), _ENCODED_AT_ONCE):
            for vector in encode(encoder, queries[start : start + _ENCODED_AT_ONCE]):
                yield self._near(vector, top_k, among)

    def own_checks(self) -> Iterator[IndexCheck]:
        longest = 0.0
        for start in range(0, len(self.vectors), _CHECKED_AT_ONCE):
            lengths = np.linalg.norm(self.vectors[start : start + _CHECKED_AT_ONCE], axis=1)
            longest = max(longest, float(np.nan_to_num(lengths, nan=np.inf).max()))
        told = f"{len(self.vectors):,} by {self._dense.encoder}, {self._dense.width} wide"
        yield IndexCheck("vectors", told, right=longest == self.manifest.longest)

    def known(self) -> Known:
        """Gives the vectors of passages that are in the index, with another title or text none."""
        rows = {each.id: row for row, each in enumerate(self.passages())}

        def vector_of(passage: Passage) -> "Vectors | None":
            row = rows.get(passage.id)
            if row is None or encoded_text(self.passage(row)) != encoded_text(passage):
                return None
            vector: Vectors = self.vectors[row]
            return vector

        return vector_of

    def _near(
        self, vector: Vectors, top_k: int, among: Array | None
    ) -> tuple[RetrievedPassage, ...]:
        try:
            near = self._index.nearest(vector, top_k, self.id_ranks, among=among)
        except UNREADABLE as error:
            raise self._does_not_fit() from error
        return tuple(self._found(row, score, rank) for rank, (row, score) in enumerate(near, 1))
