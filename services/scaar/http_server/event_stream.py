"""Server-sent events: their form, and the response that streams them."""

import asyncio
import json
import logging
import time
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
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._events = events
        self._keepalive_s = keepalive_s
        self._write_timeout_s = write_timeout_s
        self._sent_at = 0.0

    async def stream_response(self, send: Send) -> None:
        async def bounded(message: Message) -> None:
            async with asyncio.timeout(self._write_timeout_s):
                await send(message)
            self._sent_at = time.monotonic()

        begin = {"status": self.status_code, "headers": self.raw_headers}
        try:
            async with aclosing(self._events), asyncio.TaskGroup() as tasks:
                await bounded({"type": "http.response.start", **begin})
                comments = tasks.create_task(self._send_comments(bounded))
                async for event in self._events:
                    await bounded(_body(event))
                comments.cancel()
                await bounded(_body(b"", more=False))
        except* TimeoutError:
            # The server closes the connection of a response that is incomplete.
            _LOGGER.warning("a client read nothing for %g s", self._write_timeout_s)

    async def _send_comments(self, send: Send) -> None:
        """Send a comment whenever nothing else was sent for the configured time."""
        while True:
            wait_s = self._sent_at + self._keepalive_s - time.monotonic()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            else:
                await send(_body(_COMMENT))


def _body(content: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}
