"""Concurrency limit and injected failures of the generations of every lab server."""

import asyncio
import enum
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from aiohttp import web

PAGE = "<html><body>a page of a proxy</body></html>"
"""Response of a proxy instead of the server."""


class RunningGenerations:
    """A bounded number of concurrent generations, of which ``running`` are in progress."""

    def __init__(self, limit: int, overloaded: Callable[[], Exception]) -> None:
        """``overloaded`` returns the error of a generation above the limit."""
        self._limit = limit
        self._overloaded = overloaded
        self._idle, self._busy = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self.running = 0

    async def until_idle(self) -> None:
        """Wait until no generation is running."""
        await self._idle.wait()

    async def until_busy(self) -> None:
        """Wait until a generation is running."""
        await self._busy.wait()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a slot of one generation for the duration of the block."""
        if self.running >= self._limit:
            raise self._overloaded()
        self.running += 1
        self._idle.clear()
        self._busy.set()
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()
                self._busy.clear()


def new_stream() -> web.StreamResponse:
    """Return a stream of events that has not started."""
    return web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
    )


def proxy_page(failures: Collection[enum.StrEnum]) -> web.Response | None:
    """Return the proxy page that replaces the response, if a failure requires one."""
    if "unavailable" in failures:
        return web.Response(status=503, text=PAGE, content_type="text/html")
    if "garbage" in failures:
        return web.Response(text=PAGE, content_type="text/html")
    return None


async def breaks_off(
    request: web.Request, response: web.StreamResponse, failures: Collection[enum.StrEnum]
) -> bool:
    """Return whether the stream breaks off here; may write an event that is not JSON."""
    if "truncated" in failures:
        return True
    if "reset" in failures and request.transport is not None:
        request.transport.abort()
        return True
    if "garbled-event" in failures:
        await response.write(b"data: {half an eve\n\n")
    return False
