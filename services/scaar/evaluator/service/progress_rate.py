"""The rate at which predictions are made, and the estimated time until the last one."""

from collections import deque

WINDOW_S = 60.0
"""Seconds over which the rate is measured."""


class ProgressRate:
    """The rate of a rising count in the last :data:`WINDOW_S` seconds."""

    def __init__(self, *, started: float, done: int) -> None:
        """Start with a count of ``done`` at the time ``started``."""
        self._seen: deque[tuple[float, int]] = deque([(started, done)])

    def record(self, now: float, done: int) -> None:
        """Record the current count."""
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_S:
            self._seen.popleft()

    def rate_per_s(self) -> float:
        """Return the rate per second."""
        (since, before), (now, done) = self._seen[0], self._seen[-1]
        return max(0.0, (done - before) / (now - since)) if now > since else 0.0

    def remaining_s(self, total: int) -> float | None:
        """Return the seconds until ``total`` at the current rate; None if the rate is 0."""
        rate, remaining = self.rate_per_s(), total - self._seen[-1][1]
        if remaining <= 0:
            return 0.0
        return remaining / rate if rate > 0 else None
