"""Log messages and metrics of a shard while a process holds it."""

import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from scaar.core.calls.context import name_request
from scaar.core.observers import EvaluationObserver, ShardEnd
from scaar.evaluator.store.database.evaluations import StoredEvaluation
from scaar.evaluator.store.database.shards import ShardLease

_LOGGER = logging.getLogger("scaar.shards")


class ShardLog:
    """Reports that a shard was leased and, at the end of the block, its outcome and duration.

    ``end`` is the outcome, a fault unless it is set.
    """

    def __init__(
        self,
        observer: EvaluationObserver,
        lease: ShardLease,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.end = ShardEnd.FAULT
        self._observer = observer
        self._lease = lease
        self._clock = clock
        self._started = clock()
        self._name = f"shard {lease.key.number} of evaluation number {lease.key.evaluation}"

    def start(self, stored: StoredEvaluation) -> None:
        """Log the lease; later log messages carry the request id of the evaluation."""
        name_request(stored.request_id)
        self._name = f"shard {self._lease.key.number} of evaluation {stored.id}"
        first, last, attempt = self._lease.first, self._lease.last, self._lease.attempt
        _LOGGER.info(
            "%s: leased, questions %d to %d, attempt %d", self._name, first, last - 1, attempt
        )

    def __enter__(self) -> Self:
        self._observer.on_shard_leased()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seconds = self._clock() - self._started
        self._observer.on_shard_released(self.end, seconds=seconds)
        _LOGGER.info("%s: %s after %.1f s", self._name, self.end.value, seconds)
