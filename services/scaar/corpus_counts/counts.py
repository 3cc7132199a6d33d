"""Counts of entities in a corpus, from a memory-mapped file."""

import asyncio
import mmap
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from scaar.core.errors import NotFound
from scaar.corpus_counts.layout import MAX_HEADER_BYTES, Header, damaged, read_header
from scaar.corpus_counts.words import counted_words

_NOWHERE = memoryview(b"").cast("I")


class CorpusCountsFile:
    """A :class:`~scaar.core.ports.CorpusCounts` over the content of a file."""

    def __init__(self, header: Header, digest: str, sections: Sequence[memoryview]) -> None:
        self.header = header
        self.digest = digest
        """SHA-256 of the counts, in hexadecimal."""
        words, positions, starts, self._positions, self._vocabulary = sections
        self._word_ends = words.cast("Q")
        self._position_ends = positions.cast("Q")
        self._text_starts = starts.cast("I")
        self._positions = self._positions.cast("I")

    async def count(self, entities: Sequence[str]) -> tuple[int, ...]:
        """Return the number of occurrences of each entity, 0 for one without words."""
        return await asyncio.to_thread(lambda: tuple(map(self.count_of, entities)))

    async def count_together(
        self, pairs: Sequence[tuple[str, str]], *, window: int
    ) -> tuple[int, ...]:
        """Return for each pair of entities how often they occur together (:meth:`together`)."""
        return await asyncio.to_thread(
            lambda: tuple(self.together(one, other, window) for one, other in pairs)
        )

    def count_of(self, entity: str) -> int:
        """Return the number of occurrences of an entity."""
        return len(self._occurrences(entity))

    def together(self, one: str, other: str, window: int) -> int:
        """Return the number of pairs of occurrences of two entities in a window.

        The occurrences are in the same text, and at most ``window`` words apart from first word to
        first word.
        """
        fewer, more = sorted((self._occurrences(one), self._occurrences(other)), key=len)
        found = 0
        for at in fewer if len(more) else ():
            start, end = self._text_of(at)
            first = bisect_left(more, max(start, at - window))
            found += bisect_right(more, min(end - 1, at + window), first) - first
        return found

    def _occurrences(self, entity: str) -> Sequence[int]:
        """Return the positions of the first words of an entity's occurrences, in order."""
        of_words = [self._positions_of(word) for word in counted_words(entity)]
        if len(of_words) < 2:
            return of_words[0] if of_words else _NOWHERE
        return list(_adjacent(of_words))

    def _positions_of(self, word: str) -> memoryview:
        """Return the positions of a word; none for an unknown one."""
        encoded = word.encode("utf-8", "surrogatepass")
        at = bisect_left(range(self.header.vocabulary), encoded, key=self._word)
        if at == self.header.vocabulary or self._word(at) != encoded:
            return _NOWHERE
        return self._positions[self._position_ends[at] : self._position_ends[at + 1]]

    def _word(self, at: int) -> bytes:
        return bytes(self._vocabulary[self._word_ends[at] : self._word_ends[at + 1]])

    def _text_of(self, position: int) -> tuple[int, int]:
        """Return the positions at which the text of a position starts and ends."""
        after = bisect_right(self._text_starts, position)
        return self._text_starts[after - 1], self._text_starts[after]


def open_corpus_counts(path: Path) -> CorpusCountsFile:
    """Return the counts in a file, whose content agrees with its digest.

    Raises:
        NotFound: the file does not exist or cannot be read.
        DataCorrupt: the file has no corpus counts, or is damaged.
    """
    where = str(path)
    try:
        with path.open("rb") as file:
            header, digest, length = read_header(file.read(MAX_HEADER_BYTES), where)
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotFound(f"corpus counts {path} cannot be read: {reason}") from error
    ends = list(accumulate(header.section_bytes, initial=length))
    if len(content) != ends[-1]:
        raise damaged(where, f"it has {len(content):,} bytes instead of {ends[-1]:,}")
    sections = [content[start:end] for start, end in pairwise(ends)]
    if header.digest(sections) != digest:
        raise damaged(where, "its content does not have the digest sha256")
    return CorpusCountsFile(header, digest, sections)


def _adjacent(of_words: Sequence[memoryview]) -> Iterator[int]:
    """Yield the positions of the first of words that follow one another.

    The words are searched from the rarest on. Words of different parts of texts never do, since
    there is a position between parts.
    """
    order = sorted(range(len(of_words)), key=lambda at: len(of_words[at]))
    rarest, *others = order
    for position in of_words[rarest]:
        first = position - rarest
        if all(_has(of_words[at], first + at) for at in others):
            yield first


def _has(positions: memoryview, position: int) -> bool:
    at = bisect_left(positions, position)
    return at < len(positions) and positions[at] == position
