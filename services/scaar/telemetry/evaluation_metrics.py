"""The metrics of evaluations, and of the shards that a process asks."""

from collections.abc import Mapping

from scaar.core.evaluations import EvaluationState
from scaar.core.observers import EvaluationObserver, ShardEnd
from scaar.telemetry.metric_table import (
    EVALUATIONS,
    OLDEST_QUEUED,
    QUESTIONS,
    QUESTIONS_HELD_BACK,
    SHARD_DURATION,
    SHARDS,
    SHARDS_ENDED,
    SHARDS_TAKEN,
)
from scaar.telemetry.metrics import Metrics


class EvaluationMetrics(EvaluationObserver):
    """Counts what the evaluator and its workers tell."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def evaluations_counted(
        self, by_state: Mapping[EvaluationState, int], *, oldest_queued_s: float
    ) -> None:
        for state, count in by_state.items():
            self._metrics.set(EVALUATIONS, count, state.value)
        self._metrics.set(OLDEST_QUEUED, oldest_queued_s)

    def shards_counted(self, *, waiting: int, held: int) -> None:
        self._metrics.set(SHARDS, waiting, "waiting")
        self._metrics.set(SHARDS, held, "held")

    def shard_taken(self) -> None:
        self._metrics.add(SHARDS_TAKEN)

    def shard_ended(self, end: ShardEnd, *, seconds: float) -> None:
        self._metrics.add(SHARDS_ENDED, end.value)
        self._metrics.observe(SHARD_DURATION, seconds)

    def question_settled(self, failure: str) -> None:
        self._metrics.add(QUESTIONS, failure.lower() or "answered")

    def questions_held_back(self, reason: str, *, seconds: float) -> None:
        self._metrics.add(QUESTIONS_HELD_BACK, reason.lower(), by=seconds)
