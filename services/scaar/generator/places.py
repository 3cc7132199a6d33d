"""Bounds the calls that an engine works on at a time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaar.core.errors import Overloaded

_WEIGHT = 0.1
"""Weight of the latest call in the mean duration of calls."""
_SHORTEST_S, _LONGEST_S = 0.1, 60.0


class Places:
    """A bounded number of places without a queue: a call that finds none is refused at once.

    ``most`` may change; calls that hold a place keep it.
    """

    def __init__(
        self,
        most: int,
        *,
        of: str = "generations",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.taken = 0
        self._of = of
        self._clock = clock
        self._mean_s = 1.0

    @property
    def retry_after_s(self) -> float:
        """The mean time until one of the places is free."""
        return min(max(self._mean_s / self.most, _SHORTEST_S), _LONGEST_S)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Holds a place for the block.

        Raises:
            Overloaded: all are taken.
        """
        if self.taken >= self.most:
            text = f"{self.taken} {self._of} are under way, the most there may be"
            raise Overloaded(text, retry_after_s=self.retry_after_s)
        self.taken += 1
        began = self._clock()
        try:
            yield
        finally:
            self.taken -= 1
            self._mean_s += _WEIGHT * (self._clock() - began - self._mean_s)
