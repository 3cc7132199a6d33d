"""Writer of the words of passages, which bm25s weights once all passages have arrived.

Terms are written to disk as they arrive. While bm25s weights them, it needs about 40 bytes of
memory for each distinct term of each passage.
"""

import logging
from array import array
from collections.abc import Iterator
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.types import Passage
from scaar.retriever.local.analysis import EnglishAnalyzer, indexed_text
from scaar.retriever.local.bm25s_without_jax import bm25s

_TERMS_FILE = "terms.bin"

# The library sets its level to DEBUG, which would fill the log.
logging.getLogger("bm25s").setLevel(logging.WARNING)


class WordsWriter:
    """Writes the files that a BM25 index searches. Not thread-safe."""

    def __init__(self, folder: Path, analyzer: EnglishAnalyzer, *, k1: float, b: float) -> None:
        self._folder = folder
        self._analyzer, self._k1, self._b = analyzer, k1, b
        self._vocabulary: dict[str, int] = {}
        self._lengths = array("q")
        self._terms = (folder / _TERMS_FILE).open("wb")

    def add(self, passage: Passage) -> None:
        """Add the next passage."""
        terms = self._analyzer.terms(indexed_text(passage.title, passage.text))
        ids = array("i", [self._term_id(term) for term in terms])
        self._terms.write(ids.tobytes())
        self._lengths.append(len(ids))

    def write(self) -> float:
        """Write the files. Return 0, since there are no vectors.

        Raises:
            InvalidRequest: no passage contains a word.
        """
        self._terms.close()
        if not self._vocabulary:
            raise InvalidRequest.of("passages", "must contain a word other than stop words")
        weights = bm25s.BM25(k1=self._k1, b=self._b, method="lucene")
        terms = _Terms(self._folder / _TERMS_FILE, self._lengths, self._vocabulary)
        weights.index(terms, create_empty_token=False, show_progress=False)
        if weights.scores["num_docs"] != len(self._lengths):
            raise DataCorrupt("bm25s weighted another number of passages than it received")
        weights.save(self._folder, show_progress=False)
        (self._folder / _TERMS_FILE).unlink()
        return 0.0

    def close(self) -> None:
        """Close the file being written."""
        self._terms.close()

    def _term_id(self, term: str) -> int:
        return self._vocabulary.setdefault(term, len(self._vocabulary))


class _Terms:
    """Term ids of every passage, read from disk on each pass, in the form that bm25s expects."""

    def __init__(self, path: Path, lengths: "array[int]", vocabulary: dict[str, int]) -> None:
        self._path, self._lengths = path, lengths
        self.vocab = vocabulary

    @property
    def ids(self) -> "_Terms":
        return self

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[list[int]]:
        with self._path.open("rb") as file:
            for length in self._lengths:
                ids = array("i")
                ids.fromfile(file, length)
                yield ids.tolist()
