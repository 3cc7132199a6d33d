"""Windows of words, for a model that reads fewer words than a sentence has."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """The words from ``start`` to ``stop``, read together for those from ``first`` to ``last``.

    Both ranges are half-open, and the words between ``first`` and ``last`` are the window's own.
    """

    start: int
    stop: int
    first: int
    last: int


class _WordTooLong(Exception):
    """A word does not fit alone."""


def windows_of(words: int, fits: Callable[[int, int], bool]) -> tuple[Window, ...] | None:
    """Return windows of which every word is the own word of one, in order.

    ``fits`` is whether the model can read the words from one position to another. If all words
    fit, they are one window. Otherwise they are halved, and each part again, until the part fits
    together with half as many words before it and after it, as far as there are any. None if a
    word does not fit alone.
    """

    def cut(first: int, last: int) -> Iterator[Window]:
        beside = 0 if last - first == words else (last - first) // 2
        start, stop = max(0, first - beside), min(words, last + beside)
        if fits(start, stop):
            yield Window(start, stop, first, last)
            return
        if last - first == 1:
            raise _WordTooLong
        middle = (first + last) // 2
        yield from cut(first, middle)
        yield from cut(middle, last)

    try:
        return tuple(cut(0, words))
    except _WordTooLong:
        return None
