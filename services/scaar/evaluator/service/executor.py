"""Who executes shards: the seam behind which that is this process, or others."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from scaar.evaluator.execution.stopping import stopped
from scaar.evaluator.store.database.shards import ShardKey

_LOGGER = logging.getLogger(__name__)

Execute = Callable[[ShardKey], Awaitable[None]]
"""Executes a shard from wherever it is to its end, and perhaps others of its evaluation after it;
nothing happens where another holds it."""


class Executor(Protocol):
    """Has shards executed, each at least once; how often is no matter."""

    async def submit(self, key: ShardKey) -> None:
        """Takes a free shard, or leaves it: it is told of again for as long as nobody holds it.

        Raises:
            BackendUnavailable: nobody can be told now.
        """
        ...


class InProcessExecutor:
    """An :class:`Executor` in this process: so many at a time, and no queue of its own."""

    def __init__(
        self, execute: Execute, *, at_once: int, ended: Callable[[], None] = lambda: None
    ) -> None:
        """``ended`` is called whenever there is room for another, however that came."""
        self._execute = execute
        self._at_once = at_once
        self._ended = ended
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, key: ShardKey) -> None:
        if len(self._tasks) < self._at_once:
            task = asyncio.create_task(self._executed(key))
            self._tasks.add(task)
            task.add_done_callback(self._over)

    async def stop(self) -> None:
        """Ends what is under way; what was answered is kept."""
        await stopped(tuple(self._tasks))

    async def _executed(self, key: ShardKey) -> None:
        try:
            await self._execute(key)
        except Exception:
            # Of a fault of ours, too: the shard is free again, and counts how often.
            _LOGGER.exception("shard %d of evaluation number %d", key.number, key.evaluation)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._ended()


@asynccontextmanager
async def open_in_process(
    execute: Execute, *, at_once: int, ended: Callable[[], None]
) -> AsyncIterator[InProcessExecutor]:
    """An executor in this process, which ends with the block."""
    executor = InProcessExecutor(execute, at_once=at_once, ended=ended)
    try:
        yield executor
    finally:
        await executor.stop()
