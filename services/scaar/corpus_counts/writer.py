"""Writer of a file of corpus counts."""

from array import array
from collections import defaultdict
from gzip import GzipFile
from itertools import accumulate
from typing import BinaryIO

from scaar.core.errors import InvalidRequest
from scaar.corpus_counts.layout import MAX_POSITIONS, Header
from scaar.corpus_counts.words import counted_words


class CountsWriter:
    """Collects the positions of the words of texts, in memory: 4 to 8 bytes for each word."""

    def __init__(self, *, max_positions: int = MAX_POSITIONS) -> None:
        self._max_positions = max_positions
        self._positions: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._starts = array("I")
        self._next = 0
        self.words = 0
        """Number of words so far."""

    @property
    def texts(self) -> int:
        """Number of texts so far."""
        return len(self._starts)

    @property
    def vocabulary(self) -> int:
        """Number of different words so far."""
        return len(self._positions)

    def add(self, *parts: str) -> None:
        """Count the parts of one text, such as its title and its body.

        An entity is within one part. Entities of different parts of a text can be together.

        Raises:
            InvalidRequest: the corpus has too many words.
        """
        self._starts.append(self._next)
        for part in parts:
            words = counted_words(part)
            if self._next + len(words) + 1 > self._max_positions:
                text = f"must have at most {self._max_positions:,} words and parts of texts"
                raise InvalidRequest.of("corpus", text)
            for at, word in enumerate(words, self._next):
                self._positions[word].append(at)
            # The position after a part is that of no word.
            self._next += len(words) + 1
            self.words += len(words)

    def write(self, file: BinaryIO | GzipFile) -> str:
        """Write the file, and return its digest."""
        by_word = sorted(
            (word.encode("utf-8", "surrogatepass"), positions)
            for word, positions in self._positions.items()
        )
        vocabulary = b"".join(word for word, _ in by_word)
        header = Header(self.texts, self.words, len(by_word), len(vocabulary))
        sections = (
            array("Q", accumulate((len(word) for word, _ in by_word), initial=0)),
            array("Q", accumulate((len(positions) for _, positions in by_word), initial=0)),
            self._starts + array("I", [self._next]),
        )
        of_words = (positions for _, positions in by_word)
        parts: list[array[int] | bytes] = [*sections, *of_words, vocabulary]
        digest = header.digest(parts)
        file.write(header.to_bytes(digest))
        for part in parts:
            file.write(part)
        return digest
