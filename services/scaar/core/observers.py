"""What a part tells of its work to whoever watches it; here nobody does."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.evaluations import EvaluationState


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


class Shed(enum.StrEnum):
    """Why an answer was refused before its first model call."""

    QUEUE_FULL = "queue_full"
    """As many answers wait for a place as may."""
    TOO_LATE = "too_late"
    """It would not get a place within its time or the queue's, or did not."""
    BACK_END = "back_end"
    """It had a place, and a service refused its first call for as long as it may wait."""


class CapacityObserver:
    """Receives the state of admission; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def answers_counted(self, *, limit: int, under_way: int, queued: int) -> None:
        """The learned limit, and the answers that hold a place and that wait for one."""

    def answer_shed(self, reason: Shed) -> None:
        """An answer was refused before its first model call."""

    def call_repeated(self) -> None:
        """A service refused a call of an admitted answer; the call is made again."""


UNOBSERVED_CAPACITY = CapacityObserver()
"""Does nothing."""


class ShardEnd(enum.StrEnum):
    """How the time ended for which a process held a shard of an evaluation."""

    FINISHED = "finished"
    """Every question of it is settled."""
    GIVEN_BACK = "given_back"
    """Its holder was told to stop, or its time was over; the rest is another's."""
    DROPPED = "dropped"
    """It was held no more: its evaluation had ended, by its last answer or cancelled, or the lease
    was over."""
    REFUSED = "refused"
    """Its evaluation has failed: another try would end the same way."""
    DATABASE_AWAY = "database_away"
    """The database did not answer."""
    FAULT = "fault"
    """By an error of scaar's own."""


class EvaluationObserver:
    """Told of evaluations, and of the shards that a process asks; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def evaluations_counted(
        self, by_state: Mapping[EvaluationState, int], *, oldest_queued_s: float
    ) -> None:
        """So many there are in each state; the oldest queued one is that old, 0 without any."""

    def shards_counted(self, *, waiting: int, held: int) -> None:
        """So many shards of running evaluations nobody holds, and so many somebody does."""

    def shard_taken(self) -> None:
        """This process holds a shard."""

    def shard_ended(self, end: ShardEnd, *, seconds: float) -> None:
        """It holds it no more, after so long."""

    def question_settled(self, failure: str) -> None:
        """A question was asked under a setting; it was answered, or failed for this reason."""

    def questions_held_back(self, reason: str, *, seconds: float) -> None:
        """A question waited so long for an orchestrator, for this reason."""
