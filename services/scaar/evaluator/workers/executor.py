"""The executor that sends shards to a queue, and the Celery application for its settings."""

import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from celery import Celery

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.queue import ShardQueue, build_application

_LOGGER = logging.getLogger(__name__)

POLL_S = 1.0
"""Interval in seconds at which the length of the queue is read."""
LOST_AFTER_S = 5.0
"""Seconds after which the message of a free shard counts as lost if the queue is empty."""


class QueueExecutor:
    """An :class:`~scaar.evaluator.service.executor.Executor` that sends shards to a queue.

    A shard is offered again for as long as it is free. The executor remembers the shards that it
    sent until the queue is empty: then they are taken or lost. ``clock`` is monotonic.
    """

    def __init__(self, queue: ShardQueue, *, clock: Callable[[], float]) -> None:
        self._queue = queue
        self._clock = clock
        self._sent: dict[ShardKey, float] = {}
        self._poll_at = float("-inf")
        self._away = False

    async def submit(self, key: ShardKey) -> None:
        """Send the shard unless it is queued; do nothing while the broker is unavailable."""
        try:
            await self._poll()
            if not self._away and key not in self._sent:
                await self._queue.put(key)
                self._sent[key] = self._clock()
        except BackendUnavailable as error:
            if not self._away:
                _LOGGER.warning("the broker is unavailable, shards wait: %s", error)
            self._away, self._poll_at = True, self._clock() + POLL_S

    async def _poll(self) -> None:
        now = self._clock()
        if now < self._poll_at:
            return
        if await self._queue.waiting() == 0:
            self._sent = {key: at for key, at in self._sent.items() if now - at < LOST_AFTER_S}
        if self._away:
            _LOGGER.warning("the broker is available again")
        self._away, self._poll_at = False, self._clock() + POLL_S


def application_of(settings: EvaluatorSettings, broker: str) -> Celery:
    """Return the application that connects the service with its workers.

    Raises:
        InvalidRequest: the URL is not one of a supported broker.
    """
    return build_application(
        broker, queue=settings.queue, shard_s=settings.shard_s, stop_s=settings.stop_grace_s
    )


@asynccontextmanager
async def open_queue_executor(
    settings: EvaluatorSettings, broker: str
) -> AsyncIterator[QueueExecutor]:
    """Open an executor that sends shards to the queue of the broker.

    Raises:
        InvalidRequest: the URL is not one of a supported broker.
    """
    queue = ShardQueue(application_of(settings, broker))
    try:
        yield QueueExecutor(queue, clock=time.monotonic)
    finally:
        queue.close()
