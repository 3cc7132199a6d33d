"""Shards handed to workers by way of the broker, again where a message was lost."""

import logging
from collections.abc import Callable

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.queue import ShardQueue

_LOGGER = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
"""How often the queue is looked at."""
LOST_AFTER_S = 5.0
"""A free shard that was put this long ago, and is not in the queue, was lost with its message."""


class QueueExecutor:
    """An :class:`~scaar.evaluator.service.executor.Executor` that puts shards into a queue.

    It is told of free shards for as long as they are free. It keeps in mind which of them it put,
    and forgets when the queue is empty: they are taken by then, or lost. ``clock`` is monotonic.
    """

    def __init__(self, queue: ShardQueue, *, clock: Callable[[], float]) -> None:
        self._queue = queue
        self._clock = clock
        self._put: dict[ShardKey, float] = {}
        self._look_at = float("-inf")
        self._away = False

    async def submit(self, key: ShardKey) -> None:
        """Puts the shard unless it is there; leaves it where the broker does not answer."""
        try:
            await self._look()
            if not self._away and key not in self._put:
                await self._queue.put(key)
                self._put[key] = self._clock()
        except BackendUnavailable as error:
            if not self._away:
                _LOGGER.warning("shards wait: %s", error)
            self._away, self._look_at = True, self._clock() + LOOK_EVERY_S

    async def _look(self) -> None:
        now = self._clock()
        if now < self._look_at:
            return
        if await self._queue.waiting() == 0:
            self._put = {key: at for key, at in self._put.items() if now - at < LOST_AFTER_S}
        if self._away:
            _LOGGER.warning("the broker answers again")
        self._away, self._look_at = False, self._clock() + LOOK_EVERY_S
