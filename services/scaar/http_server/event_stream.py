"""Server-sent events: their form, and the response that streams them."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Message, Send

DONE = b"data: [DONE]\n\n"
"""The last event of a stream of chat completions."""
_LOGGER = logging.getLogger(__name__)
_COMMENT = b": keep-alive\n\n"


def sse(data: Mapping[str, Any], *, event: str = "") -> bytes:
    """Return an event with JSON data."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {text}\n\n".encode()


class EventStream(StreamingResponse):
    """Streams events, with a comment whenever none follows for ``keepalive_s``.

    A client that disconnects, or does not read for ``write_timeout_s``, ends the stream and with it
    the work for it.
    """

    def __init__(
        self, events: AsyncGenerator[bytes, None], *, keepalive_s: float, write_timeout_s: float
    ) -> None:
        # Proxies such as nginx would otherwise collect the events.
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        self._kept_alive = _kept_alive(events, keepalive_s)
        super().__init__(self._kept_alive, media_type="text/event-stream", headers=headers)
        self._write_timeout_s = write_timeout_s

    async def stream_response(self, send: Send) -> None:
        async def bounded(message: Message) -> None:
            async with asyncio.timeout(self._write_timeout_s):
                await send(message)

        try:
            async with aclosing(self._kept_alive):
                await super().stream_response(bounded)
        except TimeoutError:
            # The server closes the connection of a response that is incomplete.
            _LOGGER.warning("a client read nothing for %g s", self._write_timeout_s)


async def _kept_alive(
    events: AsyncGenerator[bytes, None], keepalive_s: float
) -> AsyncGenerator[bytes, None]:
    """Yield the events, and comments between them."""
    following = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=keepalive_s)
            if not done:
                yield _COMMENT
                continue
            event = following.result()
            if event is None:
                return
            following = asyncio.ensure_future(anext(events, None))
            yield event
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await events.aclose()
