"""How often words are met: in a language, or in a corpus."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """The share that each word has in all that was counted, by the word in lower case.

    ``unseen``, above 0, is the share of a word that is not among them; ``source`` says what was
    counted.
    """

    source: str
    frequencies: Mapping[str, float]
    unseen: float

    def average(self, text: str) -> float:
        """The mean frequency of the text's words; of a text without any, that of an unseen one."""
        found = self._of(text)
        return sum(found) / len(found)

    def rarest(self, text: str) -> float:
        """The frequency of the text's rarest word."""
        return min(self._of(text))

    def _of(self, text: str) -> list[float]:
        words = words_counted(text)
        return [self.frequencies.get(word, self.unseen) for word in words] or [self.unseen]


def words_counted(text: str) -> list[str]:
    """The words of a text as they are counted: runs of letters and digits in lower case."""
    return _WORD.findall(text.casefold())
