"""Limit on concurrent calls."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaar.core.errors import Overloaded

# Weight of the latest call in the mean duration of calls.
_WEIGHT = 0.1
_SHORTEST_S, _LONGEST_S = 0.1, 60.0


class Admission:
    """A limit on concurrent calls without a queue: further calls are rejected with a delay."""

    def __init__(
        self,
        limit: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        subject: str = "this service",
    ) -> None:
        """``subject`` names whose limit it is, in errors."""
        self._limit = limit
        self._subject = subject
        self._clock = clock
        self._in_progress = 0
        self._mean_s = 1.0

    @property
    def in_progress(self) -> int:
        """Number of calls in progress."""
        return self._in_progress

    @property
    def retry_after_s(self) -> float:
        """Mean duration of recent calls, between 0.1 and 60 s.

        In that time as many calls end as the limit admits.
        """
        return min(max(self._mean_s, _SHORTEST_S), _LONGEST_S)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a slot for the duration of the block.

        Raises:
            Overloaded: all slots are in use.
        """
        if self._in_progress >= self._limit:
            text = f"{self._subject} is at its limit of {self._limit} concurrent calls"
            raise Overloaded(text, retry_after_s=self.retry_after_s)
        self._in_progress += 1
        started, rejected = self._clock(), False
        try:
            yield
        except Overloaded:
            # A call that a later limit rejected says nothing about the duration of calls.
            rejected = True
            raise
        finally:
            self._in_progress -= 1
            if not rejected:
                self._mean_s += _WEIGHT * (self._clock() - started - self._mean_s)
