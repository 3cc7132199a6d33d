"""The metrics of the breakers in front of what a process calls."""

from scaar.core.observers import BreakerObserver, BreakerState, Dependency
from scaar.telemetry.metric_table import BREAKER_REFUSALS, BREAKER_STATE
from scaar.telemetry.metrics import Metrics

_NUMBERS = {BreakerState.CLOSED: 0, BreakerState.HALF_OPEN: 1, BreakerState.OPEN: 2}


class BreakerMetrics(BreakerObserver):
    """Counts what the breakers tell."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def breaker_turned(self, dependency: Dependency, state: BreakerState) -> None:
        number = _NUMBERS[state]
        self._metrics.set(BREAKER_STATE, number, dependency.service, dependency.target)
        # The series is there from the start, so that its first refusal is seen as a rise.
        self._metrics.add(BREAKER_REFUSALS, dependency.service, dependency.target, by=0)

    def call_refused(self, dependency: Dependency) -> None:
        self._metrics.add(BREAKER_REFUSALS, dependency.service, dependency.target)
