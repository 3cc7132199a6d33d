"""The metrics of a scorer's batches and of its memory."""

from scaar.core.observers import ScorerObserver
from scaar.telemetry.metric_table import (
    SCORER_BATCH_PAIRS,
    SCORER_CACHE_HITS,
    SCORER_CACHE_JOINED,
    SCORER_CACHE_MISSES,
    SCORER_QUEUE,
)
from scaar.telemetry.metrics import Metrics


class ScorerMetrics(ScorerObserver):
    """Counts what the scorer tells."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def batch_begun(self, pairs: int) -> None:
        self._metrics.observe(SCORER_BATCH_PAIRS, pairs)

    def pairs_waited(self, seconds: float) -> None:
        self._metrics.observe(SCORER_QUEUE, seconds)

    def sentences_looked_up(self, *, hits: int, joined: int, misses: int) -> None:
        self._metrics.add(SCORER_CACHE_HITS, by=hits)
        self._metrics.add(SCORER_CACHE_JOINED, by=joined)
        self._metrics.add(SCORER_CACHE_MISSES, by=misses)
