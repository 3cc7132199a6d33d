"""How fast predictions come, and how long the rest will take."""

from collections import deque

WINDOW_S = 60.0
"""So many of the last seconds tell the rate."""


class Pace:
    """The rate of a count that rises, as it is looked at now and then."""

    def __init__(self, *, started: float, done: int) -> None:
        """Counts from a time when so many were there."""
        self._seen: deque[tuple[float, int]] = deque([(started, done)])

    def look(self, now: float, done: int) -> None:
        """Takes the count as it is now."""
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_S:
            self._seen.popleft()

    def rate_per_s(self) -> float:
        """How many came a second of late."""
        (since, before), (now, done) = self._seen[0], self._seen[-1]
        return max(0.0, (done - before) / (now - since)) if now > since else 0.0

    def left_s(self, wanted: int) -> float | None:
        """How long the rest will take at that rate; None where there is none."""
        rate, left = self.rate_per_s(), wanted - self._seen[-1][1]
        if left <= 0:
            return 0.0
        return left / rate if rate > 0 else None
