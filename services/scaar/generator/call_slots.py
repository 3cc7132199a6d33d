"""Limit on the concurrent calls of an engine."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaar.core.errors import Overloaded

_WEIGHT = 0.1
"""Weight of the latest call in the mean duration of calls."""
_SHORTEST_S, _LONGEST_S = 0.1, 60.0


class CallSlots:
    """A bounded number of slots without a queue: further calls are rejected with a delay.

    ``limit`` may change; running calls keep their slots.
    """

    def __init__(
        self,
        limit: int,
        *,
        of: str = "generations",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``of`` names what is limited, in errors."""
        self.limit = limit
        self.in_use = 0
        self._of = of
        self._clock = clock
        self._mean_s = 1.0

    @property
    def retry_after_s(self) -> float:
        """Mean time until a slot is free, between 0.1 and 60 s."""
        return min(max(self._mean_s / self.limit, _SHORTEST_S), _LONGEST_S)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a slot for the duration of the block.

        Raises:
            Overloaded: all slots are in use.
        """
        if self.in_use >= self.limit:
            text = f"the limit of {self.limit} concurrent {self._of} is reached"
            raise Overloaded(text, retry_after_s=self.retry_after_s)
        self.in_use += 1
        started = self._clock()
        try:
            yield
        finally:
            self.in_use -= 1
            self._mean_s += _WEIGHT * (self._clock() - started - self._mean_s)
