"""The executor that sends shards to workers through a broker, again if a message was lost."""

import logging
from collections.abc import Callable

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.queue import ShardQueue

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
