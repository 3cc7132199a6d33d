"""What is told of a shard while a process holds it: to the log, and to whoever watches."""

import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from scaar.core.call_context import name_request
from scaar.core.observers import EvaluationObserver, ShardEnd
from scaar.evaluator.store.database.evaluations import StoredEvaluation
from scaar.evaluator.store.database.shards import Claim

_LOGGER = logging.getLogger("scaar.shards")


class ShardTelling:
    """Tells that a shard was taken and, at the end of the block, how that ended and after how long.

    ``end`` is how, and a fault unless it is set.
    """

    def __init__(
        self,
        observer: EvaluationObserver,
        held: Claim,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.end = ShardEnd.FAULT
        self._observer = observer
        self._held = held
        self._clock = clock
        self._began = clock()
        self._name = f"shard {held.key.number} of evaluation number {held.key.evaluation}"

    def begin(self, stored: StoredEvaluation) -> None:
        """Says whose it is; what is logged from now on is for the evaluation's request."""
        name_request(stored.request_id)
        self._name = f"shard {self._held.key.number} of evaluation {stored.id}"
        first, last, attempt = self._held.first, self._held.last, self._held.attempt
        _LOGGER.info(
            "%s: taken, questions %d to %d, attempt %d", self._name, first, last - 1, attempt
        )

    def __enter__(self) -> Self:
        self._observer.shard_taken()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seconds = self._clock() - self._began
        self._observer.shard_ended(self.end, seconds=seconds)
        _LOGGER.info("%s: %s after %.1f s", self._name, self.end.value, seconds)
