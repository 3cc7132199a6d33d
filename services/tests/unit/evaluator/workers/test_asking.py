"""A shard is asked until it has ended, its time is over, or its worker is told to stop."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.asking import Execute, ask_shard

KEY = ShardKey(1, 2)


class Asked:
    """What is executed, and how it ended."""

    def __init__(self, *, endless: bool = False, error: Exception | None = None) -> None:
        self.keys: list[ShardKey] = []
        self.begun = asyncio.Event()
        self.cancelled = self.closed = False
        self._endless, self._error = endless, error

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Execute]:
        try:
            yield self._execute
        finally:
            self.closed = True

    async def _execute(self, key: ShardKey) -> None:
        self.keys.append(key)
        self.begun.set()
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
    asked = Asked()
    await ask_shard(KEY, asked.opened, stopping=pipe[0], shard_s=60.0)
    assert (asked.keys, asked.cancelled, asked.closed) == ([KEY], False, True)


async def test_one_that_takes_too_long_is_left(pipe: tuple[int, int]) -> None:
    asked = Asked(endless=True)
    await ask_shard(KEY, asked.opened, stopping=pipe[0], shard_s=0.01)
    assert (asked.cancelled, asked.closed) == (True, True)


async def test_one_is_left_when_the_other_end_of_the_pipe_is_closed(pipe: tuple[int, int]) -> None:
    asked = Asked(endless=True)
    asking = asyncio.create_task(ask_shard(KEY, asked.opened, stopping=pipe[0], shard_s=3600.0))
    await asked.begun.wait()
    os.close(pipe[1])
    await asking
    assert (asked.cancelled, asked.closed) == (True, True)


async def test_an_error_is_told(pipe: tuple[int, int]) -> None:
    asked = Asked(error=BackendUnavailable("the database is away"))
    with pytest.raises(BackendUnavailable, match="away"):
        await ask_shard(KEY, asked.opened, stopping=pipe[0], shard_s=60.0)
    assert asked.closed
