"""The metrics of an orchestrator's admission of answers."""

from scaar.core.observers import CapacityObserver, Shed
from scaar.telemetry.metric_table import (
    ANSWER_LIMIT,
    ANSWERS_QUEUED,
    ANSWERS_SHED,
    ANSWERS_UNDER_WAY,
    CALLS_REPEATED,
)
from scaar.telemetry.metrics import Metrics


class CapacityMetrics(CapacityObserver):
    """Counts admitted, queued and refused answers."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._initial = True

    def answers_counted(self, *, limit: int, under_way: int, queued: int) -> None:
        self._metrics.set(ANSWER_LIMIT, limit)
        self._metrics.set(ANSWERS_UNDER_WAY, under_way)
        self._metrics.set(ANSWERS_QUEUED, queued)
        if self._initial:
            self._initial = False
            # Every series is there from the start, so that its first increase is seen.
            for reason in Shed:
                self._metrics.add(ANSWERS_SHED, reason.value, by=0)

    def answer_shed(self, reason: Shed) -> None:
        self._metrics.add(ANSWERS_SHED, reason.value)

    def call_repeated(self) -> None:
        self._metrics.add(CALLS_REPEATED)
