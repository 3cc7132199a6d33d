"""Frequencies of words in a language or a corpus."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """The relative frequency of each word, by the word in lower case.

    ``unseen``, above 0, is the frequency of any other word; ``source`` names the counted text.
    """

    source: str
    frequencies: Mapping[str, float]
    unseen: float

    def average(self, text: str) -> float:
        """Return the mean frequency of the text's words; ``unseen`` for a text without words."""
        found = self._of(text)
        return sum(found) / len(found)

    def rarest(self, text: str) -> float:
        """Return the frequency of the rarest word of the text."""
        return min(self._of(text))

    def _of(self, text: str) -> list[float]:
        words = words_counted(text)
        return [self.frequencies.get(word, self.unseen) for word in words] or [self.unseen]


def words_counted(text: str) -> list[str]:
    """Return the words of a text for counting: runs of letters and digits in lower case."""
    return _WORD.findall(text.casefold())
