"""How many calls a server works on at a time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaar.core.errors import Overloaded

# How much the length of the last call counts in the mean of those before.
_WEIGHT = 0.1
_SHORTEST_S, _LONGEST_S = 0.1, 60.0


class Admission:
    """A number of places; who finds none is refused at once and told when to come again."""

    def __init__(
        self,
        places: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        whose: str = "this service takes",
    ) -> None:
        self._places = places
        self._whose = whose
        self._clock = clock
        self._taken = 0
        self._mean_s = 1.0

    @property
    def taken(self) -> int:
        """How many places are taken."""
        return self._taken

    @property
    def retry_after_s(self) -> float:
        """The mean length of the calls of late, within bounds.

        As many calls end in that time as there are places.
        """
        return min(max(self._mean_s, _SHORTEST_S), _LONGEST_S)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place, given back however the block ends.

        Raises:
            Overloaded: all are taken.
        """
        if self._taken >= self._places:
            text = f"{self._places} calls are under way, as many as {self._whose} at a time"
            raise Overloaded(text, retry_after_s=self.retry_after_s)
        self._taken += 1
        began, refused = self._clock(), False
        try:
            yield
        except Overloaded:
            # The duration of a call that was refused further on tells nothing about free places.
            refused = True
            raise
        finally:
            self._taken -= 1
            if not refused:
                self._mean_s += _WEIGHT * (self._clock() - began - self._mean_s)
