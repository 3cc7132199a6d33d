"""Counts of entities in texts, by reading the texts again for every call."""

from collections.abc import Sequence
from itertools import product

from scaar.core.gates.word_statistics import words_counted


class ReadCorpus:
    """A :class:`~scaar.core.ports.CorpusCounts` over texts; records the entities of its calls."""

    def __init__(self, *texts: str, digest: str = "b00c") -> None:
        self._texts = [words_counted(text) for text in texts]
        self.digest = digest
        self.counted: list[tuple[str, ...]] = []
        self.paired: list[tuple[str, str]] = []

    async def count(self, entities: Sequence[str]) -> tuple[int, ...]:
        self.counted.append(tuple(entities))
        return tuple(sum(len(_places(text, each)) for text in self._texts) for each in entities)

    async def count_together(
        self, pairs: Sequence[tuple[str, str]], *, window: int
    ) -> tuple[int, ...]:
        self.paired += pairs
        return tuple(self._together(one, other, window) for one, other in pairs)

    def _together(self, one: str, other: str, window: int) -> int:
        places = ((_places(text, one), _places(text, other)) for text in self._texts)
        return sum(abs(a - b) <= window for each in places for a, b in product(*each))


def _places(text: list[str], entity: str) -> list[int]:
    """Return the positions at which the words of an entity start in a text."""
    words = words_counted(entity)
    starts = range(len(text) - len(words) + 1)
    return [at for at in starts if words and text[at : at + len(words)] == words]


LONDON_CORPUS = ReadCorpus("Ada was born in London. So the answer is London.")
"""A corpus in which Ada occurs with London and with nothing else."""
