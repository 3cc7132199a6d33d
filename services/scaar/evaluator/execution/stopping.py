"""Tasks ended for certain."""

import asyncio
from collections.abc import Collection
from typing import Any

_AGAIN_S = 1.0


async def stopped(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancels the tasks until none of them is left; what they ended with is passed over.

    Whoever waits for that and is cancelled meanwhile is so when none is left.
    """
    left, cancelled = set(tasks), False
    while left:
        # One that comes just as what is awaited ends may be lost, and is then told again.
        for task in left:
            task.cancel()
        try:
            await asyncio.wait(left, timeout=_AGAIN_S)
        except asyncio.CancelledError:
            cancelled = True
        left = {task for task in left if not task.done()}
    for task in tasks:
        if not task.cancelled():
            # Nobody else looks what it ended with.
            task.exception()
    if cancelled:
        raise asyncio.CancelledError
