"""Tasks ended for certain."""

import asyncio
from collections.abc import Collection
from typing import Any

_AGAIN_S = 1.0


async def stopped(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancels the tasks until none of them is left; what they ended with is passed over."""
    left = set(tasks)
    while left:
        # One that comes just as what is awaited ends may be lost, and is then told again.
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)
