"""The execution of a shard in a process of a worker, with a signal to stop."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from scaar.evaluator.service.shard_sequence import ShardSequence
from scaar.evaluator.store.database.shards import ShardKey

Open = Callable[[], AbstractAsyncContextManager[ShardSequence]]
"""Opens the execution of shards in the worker's process, since gRPC channels do not survive a
fork."""


async def execute_shard(key: ShardKey, open_: Open, *, stopping: int, shard_s: float) -> None:
    """Execute a shard for at most ``shard_s`` seconds, or until ``stopping`` is readable.

    Stored predictions are kept, and another process executes the rest of the shard.

    Raises:
        ScaarError: the execution cannot be opened, or the database does not respond.
    """
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(stopping, stopped.set)
    async with open_() as sequence:
        executing = asyncio.ensure_future(sequence.execute(key))
        stop = asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait(
                {executing, stop}, timeout=shard_s, return_when=asyncio.FIRST_COMPLETED
            )
            if executing.done():
                executing.result()
        finally:
            loop.remove_reader(stopping)
            for each in (executing, stop):
                each.cancel()
            await asyncio.gather(executing, stop, return_exceptions=True)
