"""Metrics of the observers of a process: breakers, admission, evaluations and the scorer."""

from collections.abc import Mapping

from scaar.core.evaluations import EvaluationState
from scaar.core.observers import (
    BreakerObserver,
    BreakerState,
    CapacityObserver,
    Dependency,
    EvaluationObserver,
    PolicyObserver,
    RecordDrop,
    RecordObserver,
    RequestObserver,
    ScorerObserver,
    ShadowOutcome,
    ShardEnd,
    Shed,
)
from scaar.core.types import ExpectedCost
from scaar.telemetry.metric_table import (
    ANSWER_LIMIT,
    ANSWERS_IN_PROGRESS,
    ANSWERS_QUEUED,
    ANSWERS_SHED,
    ARTEFACT_MISMATCHES,
    BREAKER_REFUSALS,
    BREAKER_STATE,
    CALLS_RETRIED,
    EVALUATIONS,
    HTTP_DURATION,
    HTTP_IN_PROGRESS,
    HTTP_REQUESTS,
    OLDEST_QUEUED,
    POLICY_EXPECTED_SEARCHES,
    POLICY_EXPECTED_TRIGGER_RATE,
    QUESTIONS,
    QUESTIONS_WAITING,
    RECORDS_DROPPED,
    RECORDS_WAITING,
    RECORDS_WRITTEN,
    SCORER_BATCH_PAIRS,
    SCORER_CACHE_HITS,
    SCORER_CACHE_JOINED,
    SCORER_CACHE_MISSES,
    SCORER_QUEUE,
    SHADOW_DRAFTS,
    SHARD_DURATION,
    SHARDS,
    SHARDS_ENDED,
    SHARDS_LEASED,
)
from scaar.telemetry.metrics import Metrics

_NUMBERS = {BreakerState.CLOSED: 0, BreakerState.HALF_OPEN: 1, BreakerState.OPEN: 2}


class BreakerMetrics(BreakerObserver):
    """Observer of the breakers of a process."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def on_breaker_state(self, dependency: Dependency, state: BreakerState) -> None:
        number = _NUMBERS[state]
        self._metrics.set(BREAKER_STATE, number, dependency.service, dependency.target)
        # Create the series at 0, so that its first refusal is an increase.
        self._metrics.add(BREAKER_REFUSALS, dependency.service, dependency.target, by=0)

    def on_call_refused(self, dependency: Dependency) -> None:
        self._metrics.add(BREAKER_REFUSALS, dependency.service, dependency.target)


class CapacityMetrics(CapacityObserver):
    """Observer of admission: running, queued and rejected answers."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._initial = True

    def on_answer_counts(self, *, limit: int, under_way: int, queued: int) -> None:
        self._metrics.set(ANSWER_LIMIT, limit)
        self._metrics.set(ANSWERS_IN_PROGRESS, under_way)
        self._metrics.set(ANSWERS_QUEUED, queued)
        if self._initial:
            self._initial = False
            # Create every series at 0, so that its first increase is visible.
            for reason in Shed:
                self._metrics.add(ANSWERS_SHED, reason.value, by=0)

    def on_answer_shed(self, reason: Shed) -> None:
        self._metrics.add(ANSWERS_SHED, reason.value)

    def on_call_repeated(self) -> None:
        self._metrics.add(CALLS_RETRIED)


class PolicyMetrics(PolicyObserver):
    """Observer of tuned policies and of the comparisons of a shadow policy."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def on_tuned_policy(self, policy: str, expected: ExpectedCost) -> None:
        self._metrics.set(POLICY_EXPECTED_TRIGGER_RATE, expected.trigger_rate, policy)
        self._metrics.set(POLICY_EXPECTED_SEARCHES, expected.searches_per_answer, policy)
        # Create the series at 0, so that the first answer is an increase.
        self._metrics.add(ARTEFACT_MISMATCHES, policy, by=0)

    def on_shadow_judged(self, policy: str, shadow: str, outcome: ShadowOutcome) -> None:
        self._metrics.add(SHADOW_DRAFTS, policy, shadow, outcome.value)


class EvaluationMetrics(EvaluationObserver):
    """Observer of the evaluations, shards and questions of a process."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def on_evaluation_counts(
        self, by_state: Mapping[EvaluationState, int], *, oldest_queued_s: float
    ) -> None:
        for state, count in by_state.items():
            self._metrics.set(EVALUATIONS, count, state.value)
        self._metrics.set(OLDEST_QUEUED, oldest_queued_s)

    def on_shard_counts(self, *, waiting: int, held: int) -> None:
        self._metrics.set(SHARDS, waiting, "waiting")
        self._metrics.set(SHARDS, held, "leased")

    def on_shard_leased(self) -> None:
        self._metrics.add(SHARDS_LEASED)

    def on_shard_released(self, end: ShardEnd, *, seconds: float) -> None:
        self._metrics.add(SHARDS_ENDED, end.value)
        self._metrics.observe(SHARD_DURATION, seconds)

    def on_question_settled(self, failure: str) -> None:
        self._metrics.add(QUESTIONS, failure.lower() or "answered")

    def on_questions_delayed(self, reason: str, *, seconds: float) -> None:
        self._metrics.add(QUESTIONS_WAITING, reason.lower(), by=seconds)


class ScorerMetrics(ScorerObserver):
    """Observer of the batches and the cache of a scorer."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def on_batch_started(self, pairs: int) -> None:
        self._metrics.observe(SCORER_BATCH_PAIRS, pairs)

    def on_queue_wait(self, seconds: float) -> None:
        self._metrics.observe(SCORER_QUEUE, seconds)

    def on_cache_lookup(self, *, hits: int, joined: int, misses: int) -> None:
        self._metrics.add(SCORER_CACHE_HITS, by=hits)
        self._metrics.add(SCORER_CACHE_JOINED, by=joined)
        self._metrics.add(SCORER_CACHE_MISSES, by=misses)


class RequestMetrics(RequestObserver):
    """Observer of HTTP requests."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._in_progress = 0

    def on_request_begin(self) -> None:
        self._count(1)

    def on_request_end(self, route: str, status: int, seconds: float) -> None:
        self._count(-1)
        self._metrics.add(HTTP_REQUESTS, route, str(status))
        self._metrics.observe(HTTP_DURATION, seconds, route)

    def _count(self, change: int) -> None:
        self._in_progress += change
        self._metrics.set(HTTP_IN_PROGRESS, self._in_progress)


class RecordMetrics(RecordObserver):
    """Observer of the records of answers."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        # Create the series at 0, so that the first drop is an increase.
        for reason in RecordDrop:
            metrics.add(RECORDS_DROPPED, reason.value, by=0)

    def on_records_written(self, count: int) -> None:
        self._metrics.add(RECORDS_WRITTEN, by=count)

    def on_records_waiting(self, count: int) -> None:
        self._metrics.set(RECORDS_WAITING, count)

    def on_records_dropped(self, reason: RecordDrop, count: int) -> None:
        self._metrics.add(RECORDS_DROPPED, reason.value, by=count)
