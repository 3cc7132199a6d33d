"""A shard asked in a process of a worker, which may be told to stop."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from scaar.evaluator.store.database.shards import ShardKey

Execute = Callable[[ShardKey], Awaitable[None]]
Open = Callable[[], AbstractAsyncContextManager[Execute]]
"""Opens what shards are executed with, in the process that asks: channels bear no fork."""


async def ask_shard(key: ShardKey, opened: Open, *, stopping: int, shard_s: float) -> None:
    """Executes the shard; for no longer than ``shard_s``, and until ``stopping`` can be read.

    What was answered by then is kept, and the rest is another's.

    Raises:
        ScaarError: what it is executed with cannot be opened, or the database does not answer.
    """
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(stopping, told.set)
    async with opened() as execute:
        asking = asyncio.ensure_future(execute(key))
        stop = asyncio.create_task(told.wait())
        try:
            await asyncio.wait({asking, stop}, timeout=shard_s, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                asking.result()
        finally:
            loop.remove_reader(stopping)
            for each in (asking, stop):
                each.cancel()
            await asyncio.gather(asking, stop, return_exceptions=True)
