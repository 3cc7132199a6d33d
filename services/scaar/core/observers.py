"""Observers: callbacks for metrics and logs. The classes here do nothing."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.evaluations import EvaluationState
from scaar.core.types import ExpectedCost


class ScorerObserver:
    """Receives the batches and the cache lookups of a scorer; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def on_batch_started(self, pairs: int) -> None:
        """A batch with this number of distinct pairs was sent to the model."""

    def on_queue_wait(self, seconds: float) -> None:
        """The pairs of a call, or of one of its requests to a server, waited this long."""

    def on_cache_lookup(self, *, hits: int, joined: int, misses: int) -> None:
        """Requested sentences: cached, joined to a running computation, and computed."""


UNOBSERVED = ScorerObserver()
"""Does nothing."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A service that a process calls, and its target."""

    service: str
    """Role of the service, as the command line names it."""
    target: str
    """Target of the service; for an external server, the name of the engine."""

    def __str__(self) -> str:
        return f"{self.service} at {self.target}"


class BreakerState(enum.StrEnum):
    """Whether a breaker admits calls."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    """Admits one trial call at a time."""
    OPEN = "open"


class BreakerObserver:
    """Receives the states of the breakers of a process; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def on_breaker_state(self, dependency: Dependency, state: BreakerState) -> None:
        """A breaker entered this state. Also called with the initial state."""

    def on_call_refused(self, dependency: Dependency) -> None:
        """A breaker refused a call."""


UNOBSERVED_BREAKERS = BreakerObserver()
"""Does nothing."""


class Shed(enum.StrEnum):
    """Why an answer was rejected before its first model call."""

    QUEUE_FULL = "queue_full"
    """The maximum number of answers wait for a place."""
    TOO_LATE = "too_late"
    """The answer would not get a place within its own time or that of the queue, or did not."""
    BACK_END = "back_end"
    """The answer had a place, and a service refused its first call for the maximum wait."""


class CapacityObserver:
    """Receives the state of admission; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def on_answer_counts(self, *, limit: int, under_way: int, queued: int) -> None:
        """The learned limit, the running answers and the queued answers."""

    def on_answer_shed(self, reason: Shed) -> None:
        """An answer was rejected before its first model call."""

    def on_call_repeated(self) -> None:
        """A service refused a call of an admitted answer; the call is repeated."""


UNOBSERVED_CAPACITY = CapacityObserver()
"""Does nothing."""


class ShadowOutcome(enum.StrEnum):
    """Whether a policy and its shadow found the same draft uncertain."""

    BOTH = "both"
    NEITHER = "neither"
    POLICY_ONLY = "policy_only"
    """The policy that answers would retrieve, and its shadow would not."""
    SHADOW_ONLY = "shadow_only"
    FAILED = "failed"
    """The scorer failed for the shadow, or the answer had no time left."""
    UNAVAILABLE = "unavailable"
    """The model cannot serve the shadow, or is not that of its artefact; once per answer."""


class PolicyObserver:
    """Receives the tuned policies and the comparisons of a shadow; these methods do nothing.

    All must neither block nor raise.
    """

    def on_tuned_policy(self, policy: str, expected: ExpectedCost) -> None:
        """The orchestrator has a tuned policy with this expected cost."""

    def on_shadow_judged(self, policy: str, shadow: str, outcome: ShadowOutcome) -> None:
        """The trigger of the shadow policy judged a draft of an answer by ``policy``."""


UNOBSERVED_POLICIES = PolicyObserver()
"""Does nothing."""


class ShardEnd(enum.StrEnum):
    """How the lease of a shard of an evaluation ended."""

    FINISHED = "finished"
    """Every question of the shard is settled."""
    RELEASED = "released"
    """The process was stopped, or its time for the shard ended. Another process does the rest."""
    DROPPED = "dropped"
    """The process lost the shard: the evaluation had ended or was cancelled, or the lease had
    expired."""
    REFUSED = "refused"
    """The evaluation failed with an error that a retry would repeat."""
    DATABASE_UNAVAILABLE = "database_unavailable"
    """The database was unavailable."""
    FAULT = "fault"
    """An internal error of scaar."""


class EvaluationObserver:
    """Receives evaluations, and the shards that a process executes; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def on_evaluation_counts(
        self, by_state: Mapping[EvaluationState, int], *, oldest_queued_s: float
    ) -> None:
        """Evaluations by state, and the age of the oldest queued one; 0 if none is queued."""

    def on_shard_counts(self, *, waiting: int, held: int) -> None:
        """Shards of running evaluations: waiting, and leased (``held``)."""

    def on_shard_leased(self) -> None:
        """This process leased a shard."""

    def on_shard_released(self, end: ShardEnd, *, seconds: float) -> None:
        """This process released a shard after this time."""

    def on_question_settled(self, failure: str) -> None:
        """A question was answered under a setting, or failed with this reason."""

    def on_questions_delayed(self, reason: str, *, seconds: float) -> None:
        """A question waited this long for an orchestrator, for this reason."""


class RequestObserver:
    """Receives the HTTP requests of a process; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def on_request_begin(self) -> None:
        """A request has begun."""

    def on_request_end(self, route: str, status: int, seconds: float) -> None:
        """A request of this route has ended, with this HTTP status."""


UNOBSERVED_REQUESTS = RequestObserver()
"""Does nothing."""


class RecordDrop(enum.StrEnum):
    """Why a record of an answer was dropped."""

    QUEUE_FULL = "queue_full"
    """The store does not take records as fast as answers end, or not at all."""
    CLOSED = "closed"
    """The orchestrator was stopped while the database was unavailable."""
    FAULT = "fault"
    """An internal error of scaar."""


class RecordObserver:
    """Receives the records of an orchestrator; these methods do nothing.

    All are called from the event loop, and must neither block nor raise.
    """

    def on_records_written(self, count: int) -> None:
        """The store has this number of further records."""

    def on_records_waiting(self, count: int) -> None:
        """This number of records waits to be written."""

    def on_records_dropped(self, reason: RecordDrop, count: int) -> None:
        """This number of records is lost."""


UNOBSERVED_RECORDS = RecordObserver()
"""Does nothing."""
