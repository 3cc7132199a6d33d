"""Writer of the words and the vectors of the same passages."""

from scaar.core.types import Passage
from scaar.retriever.local.builder import SearchWriter


class WordsAndVectorsWriter:
    """Writes the files that a hybrid index searches. Not thread-safe."""

    def __init__(self, words: SearchWriter, vectors: SearchWriter) -> None:
        self._words, self._vectors = words, vectors

    def add(self, passage: Passage) -> None:
        """Add the next passage."""
        self._words.add(passage)
        self._vectors.add(passage)

    def write(self) -> float:
        """Write the files. Return the length of the longest vector."""
        self._words.write()
        return self._vectors.write()

    def close(self) -> None:
        """Close the files being written."""
        self._words.close()
        self._vectors.close()
