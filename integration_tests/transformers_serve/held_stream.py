"""Proxy of a model server that holds a stream after its first text."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, ClientTimeout, web

from scaar.lab_servers.address import listening


class HeldStreams:
    """A proxy at ``url`` whose streams stop after their first text.

    ``held`` is the number of streams that were held; ``closed`` is set once the client has closed
    one of them.
    """

    def __init__(self, session: ClientSession, server: str) -> None:
        self._session = session
        self._server = server
        self.url = ""
        self.held = 0
        self.closed = asyncio.Event()

    def app(self) -> web.Application:
        """Return the web application."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._forward)
        return app

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        url = f"{self._server}{request.path}"
        headers = {"Content-Type": request.content_type}
        async with self._session.request(request.method, url, data=body, headers=headers) as got:
            if got.content_type != "text/event-stream":
                content = await got.read()
                return web.Response(status=got.status, body=content, content_type=got.content_type)
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            async for line in got.content:
                await response.write(line)
                if _has_text(line):
                    await response.write(b"\n")
                    self.held += 1
                    try:
                        await asyncio.Event().wait()
                    finally:
                        self.closed.set()
            return response


def _has_text(line: bytes) -> bool:
    if not line.startswith(b"data: {"):
        return False
    choices = json.loads(line.removeprefix(b"data: "))["choices"]
    return any(each.get("text") or each.get("delta", {}).get("content") for each in choices)


@asynccontextmanager
async def holding_streams(server: str) -> AsyncIterator[HeldStreams]:
    """Run a proxy of the server at this URL for the duration of the block."""
    async with ClientSession(timeout=ClientTimeout(total=None)) as session:
        held = HeldStreams(session, server)
        async with listening(held.app(), "127.0.0.1", 0) as url:
            held.url = url
            yield held
