"""The vectors of passages, made by the encoder as the passages come, a few in memory at a time."""

from pathlib import Path

from scaar.core.types import DenseDescription, Passage
from scaar.retriever.dense import Encoder, Known, Vectors, encode, encoded_text
from scaar.retriever.vector_index import VECTORS_FILE, write_vectors

_ENCODED_AT_ONCE = 256
_RAW_FILE = "vectors.bin"


class VectorsWriter:
    """What an index of vectors is searched by. For one thread at a time."""

    def __init__(
        self, folder: Path, encoder: Encoder | None, dense: DenseDescription, *, known: Known
    ) -> None:
        """``encoder`` may be None where every passage is ``known``."""
        self._folder, self._encoder, self._dense, self._known = folder, encoder, dense, known
        self._waiting: list[tuple[str, Vectors | None]] = []
        self._file = (folder / _RAW_FILE).open("wb")

    def add(self, passage: Passage) -> None:
        """Takes the next passage in."""
        self._waiting.append((encoded_text(passage), self._known(passage)))
        if len(self._waiting) >= _ENCODED_AT_ONCE:
            self._encode()

    def write(self) -> float:
        """Writes the file; the length of the longest vector."""
        self._encode()
        self._file.close()
        raw = self._folder / _RAW_FILE
        longest = write_vectors(raw, self._dense, self._folder / VECTORS_FILE)
        raw.unlink()
        return longest

    def close(self) -> None:
        """Closes the file being written."""
        self._file.close()

    def _encode(self) -> None:
        new = [text for text, vector in self._waiting if vector is None]
        made = iter(encode(self._encoder, new) if self._encoder and new else ())
        for _, vector in self._waiting:
            self._file.write((next(made) if vector is None else vector).tobytes())
        self._waiting = []
