"""Executors of shards: the port, and its implementation in this process."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.store.database.shards import ShardKey

_LOGGER = logging.getLogger(__name__)

Execute = Callable[[ShardKey], Awaitable[None]]
"""Executes the rest of a shard, and possibly further shards of its evaluation; does nothing if
another process holds the shard."""


class Executor(Protocol):
    """Executes shards, each at least once; repeated execution does no harm."""

    async def submit(self, key: ShardKey) -> None:
        """Offer a free shard. The executor may decline; an unclaimed shard is offered again.

        Raises:
            BackendUnavailable: the shard cannot be handed over now.
        """
        ...


class InProcessExecutor:
    """An :class:`Executor` in this process with bounded concurrency and without a queue."""

    def __init__(
        self, execute: Execute, *, concurrency: int, on_free: Callable[[], None] = lambda: None
    ) -> None:
        """``on_free`` is called whenever a shard has ended, successfully or not."""
        self._execute = execute
        self._concurrency = concurrency
        self._on_free = on_free
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, key: ShardKey) -> None:
        if len(self._tasks) < self._concurrency:
            task = asyncio.create_task(self._executed(key))
            self._tasks.add(task)
            task.add_done_callback(self._forget)

    async def stop(self) -> None:
        """Stop running shards; stored predictions are kept."""
        await cancel_all(tuple(self._tasks))

    async def _executed(self, key: ShardKey) -> None:
        try:
            await self._execute(key)
        except Exception:
            # Internal errors too: the shard is free again, and counts its faults.
            _LOGGER.exception("shard %d of evaluation number %d", key.number, key.evaluation)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._on_free()


class ExternalExecutor:
    """An :class:`Executor` that declines every shard: workers find the shards themselves."""

    async def submit(self, key: ShardKey) -> None:
        """Do nothing."""


@asynccontextmanager
async def open_in_process(
    execute: Execute, *, concurrency: int, on_free: Callable[[], None]
) -> AsyncIterator[InProcessExecutor]:
    """Open an executor in this process; it stops when the block ends."""
    executor = InProcessExecutor(execute, concurrency=concurrency, on_free=on_free)
    try:
        yield executor
    finally:
        await executor.stop()
