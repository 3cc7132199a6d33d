"""What a part tells of its work to whoever watches it; here nobody does."""

import enum
from dataclasses import dataclass


class ScorerObserver:
    """Told of a scorer's batches and of its memory; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def batch_begun(self, pairs: int) -> None:
        """So many different pairs were handed to the model together."""

    def pairs_waited(self, seconds: float) -> None:
        """A call's pairs, or those of one of its requests to a server, were begun after so long."""

    def sentences_looked_up(self, *, hits: int, joined: int, misses: int) -> None:
        """Of the sentences asked for, how many were in memory, under way, and begun."""


UNOBSERVED = ScorerObserver()
"""Nobody watches."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A service that a process calls, and where it is."""

    service: str
    """What it is to the process, as the command line names it."""
    target: str
    """Its target; for a server of another make, the engine's name."""

    def __str__(self) -> str:
        return f"{self.service} at {self.target}"


class BreakerState(enum.StrEnum):
    """Whether a breaker lets calls through."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    """One at a time, on trial."""
    OPEN = "open"


class BreakerObserver:
    """Told of the breakers of a process; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def breaker_turned(self, dependency: Dependency, state: BreakerState) -> None:
        """A breaker is in that state from now on, the first one included."""

    def call_refused(self, dependency: Dependency) -> None:
        """A call was not made."""


UNOBSERVED_BREAKERS = BreakerObserver()
"""Nobody watches."""
