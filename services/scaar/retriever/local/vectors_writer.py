"""Writer of the vectors of passages, which are encoded in batches as passages arrive."""

from collections.abc import Callable
from pathlib import Path

from scaar.core.types import DenseDescription, Passage
from scaar.retriever.dense import Encoder, VectorLookup, Vectors, encode, encoded_text
from scaar.retriever.local.vector_index import VECTORS_FILE, write_vectors

_ENCODE_BATCH = 256
_RAW_FILE = "vectors.bin"


class VectorsWriter:
    """Writes the file that a vector index searches. Not thread-safe."""

    def __init__(
        self,
        folder: Path,
        encoder: Callable[[], Encoder],
        dense: DenseDescription,
        *,
        lookup: VectorLookup,
    ) -> None:
        """Open the file of raw vectors. ``encoder`` is called if ``lookup`` lacks a passage."""
        self._folder, self._encoder, self._dense, self._lookup = folder, encoder, dense, lookup
        self._waiting: list[tuple[str, Vectors | None]] = []
        self._file = (folder / _RAW_FILE).open("wb")

    def add(self, passage: Passage) -> None:
        """Add the next passage."""
        self._waiting.append((encoded_text(passage), self._lookup(passage)))
        if len(self._waiting) >= _ENCODE_BATCH:
            self._encode()

    def write(self) -> float:
        """Write the file. Return the length of the longest vector."""
        self._encode()
        self._file.close()
        raw = self._folder / _RAW_FILE
        longest = write_vectors(raw, self._dense, self._folder / VECTORS_FILE)
        raw.unlink()
        return longest

    def close(self) -> None:
        """Close the file being written."""
        self._file.close()

    def _encode(self) -> None:
        new = [text for text, vector in self._waiting if vector is None]
        made = iter(encode(self._encoder(), new) if new else ())
        for _, vector in self._waiting:
            self._file.write((next(made) if vector is None else vector).tobytes())
        self._waiting = []
