"""What counts as a sentence: for a judge, and for the limit of an answer."""

import re
from collections.abc import Iterable

from scaar.core.text.line_kinds import LineKind, first_line, last_line

_FENCE = re.compile(r"\s*(?:```|~~~)[^\n]*")


def has_words(text: str) -> bool:
    """Return whether a sentence has a word to judge: a letter or a digit, and is no code fence."""
    return any(map(str.isalnum, text)) and _FENCE.fullmatch(text) is None


class SentenceCounter:
    """Counts the sentences of an answer, those in the lines of one list, table or code as one."""

    def __init__(self) -> None:
        self.count = 0
        self._line: LineKind | None = None
        self._space = ""
        self.in_block = False
        """Whether the last sentence is in a list, a table or code, or a heading."""

    def add(self, sentence: str) -> None:
        """Count the next sentence of the text."""
        text = f"{self._space}{sentence}"
        line = first_line(f"{text}\n", self._line) or LineKind.PROSE
        if not (self.in_block and line.is_structural):
            self.count += 1
        self.in_block = line.is_structural
        self._line = last_line(text, self._line)
        self._space = text[len(text.rstrip()) :]


def count_sentences(sentences: Iterable[str]) -> int:
    """Return the number of consecutive sentences as :class:`SentenceCounter` counts them."""
    counter = SentenceCounter()
    for sentence in sentences:
        counter.add(sentence)
    return counter.count
