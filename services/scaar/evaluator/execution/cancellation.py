"""Cancellation of tasks that is certain to end them."""

import asyncio
from collections.abc import Collection
from typing import Any

_AGAIN_S = 1.0


async def cancel_all(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel the tasks and return when all have ended; their results and errors are ignored.

    If the caller is cancelled meanwhile, CancelledError is raised once all tasks have ended.
    """
    remaining, cancelled = set(tasks), False
    while remaining:
        # A cancellation that arrives just as an awaited operation ends may be lost: repeat it.
        for task in remaining:
            task.cancel()
        try:
            await asyncio.wait(remaining, timeout=_AGAIN_S)
        except asyncio.CancelledError:
            cancelled = True
        remaining = {task for task in remaining if not task.done()}
    for task in tasks:
        if not task.cancelled():
            # Retrieve the exception, or asyncio logs it as never retrieved.
            task.exception()
    if cancelled:
        raise asyncio.CancelledError
