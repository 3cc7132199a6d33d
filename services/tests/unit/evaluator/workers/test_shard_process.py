"""A shard is executed until it has ended, its time is over, or its worker stops."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.shard_process import execute_shard

KEY = ShardKey(1, 2)


class Execution:
    """Records the executed shards, and how they ended."""

    def __init__(self, *, endless: bool = False, error: Exception | None = None) -> None:
        self.keys: list[ShardKey] = []
        self.started = asyncio.Event()
        self.cancelled = self.closed = False
        self._endless, self._error = endless, error

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Any]:
        try:
            yield self
        finally:
            self.closed = True

    async def execute(self, key: ShardKey) -> None:
        self.keys.append(key)
        self.started.set()
        if self._error:
            raise self._error
        try:
            await asyncio.sleep(3600.0 if self._endless else 0)
        except asyncio.CancelledError:
            self.cancelled = True
            raise


@pytest.fixture
def pipe() -> tuple[int, int]:
    return os.pipe()


async def test_a_shard_is_executed_to_its_end(pipe: tuple[int, int]) -> None:
    execution = Execution()
    await execute_shard(KEY, execution.opened, stopping=pipe[0], shard_s=60.0)
    assert (execution.keys, execution.cancelled, execution.closed) == ([KEY], False, True)


async def test_a_shard_that_takes_too_long_is_left(pipe: tuple[int, int]) -> None:
    execution = Execution(endless=True)
    await execute_shard(KEY, execution.opened, stopping=pipe[0], shard_s=0.01)
    assert (execution.cancelled, execution.closed) == (True, True)


async def test_a_shard_is_left_when_the_other_end_of_the_pipe_is_closed(
    pipe: tuple[int, int],
) -> None:
    execution = Execution(endless=True)
    executing = asyncio.create_task(
        execute_shard(KEY, execution.opened, stopping=pipe[0], shard_s=3600.0)
    )
    await execution.started.wait()
    os.close(pipe[1])
    await executing
    assert (execution.cancelled, execution.closed) == (True, True)


async def test_an_error_is_raised(pipe: tuple[int, int]) -> None:
    execution = Execution(error=BackendUnavailable("the database is away"))
    with pytest.raises(BackendUnavailable, match="away"):
        await execute_shard(KEY, execution.opened, stopping=pipe[0], shard_s=60.0)
    assert execution.closed
