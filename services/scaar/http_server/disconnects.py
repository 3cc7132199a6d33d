"""Work that ends when its client disconnects."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.types import Receive

from scaar.core.errors import StreamIncomplete

_Value = TypeVar("_Value")


async def unless_disconnected(receive: Receive, work: Awaitable[_Value]) -> _Value:
    """Return the result of the work, which is cancelled if the client disconnects first.

    Raises:
        StreamIncomplete: the client has disconnected.
    """

    async def disconnected() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    working = asyncio.ensure_future(work)
    watching = asyncio.create_task(disconnected())
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise StreamIncomplete("the client has disconnected")
        return working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)
