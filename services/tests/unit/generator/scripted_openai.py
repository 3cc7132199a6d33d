"""A server of OpenAI's interface that streams given chunks, and keeps the requests."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from scaar.lab_servers.address import listening

Json = dict[str, Any]


@dataclass
class ScriptedServer:
    """A server whose models have this name and owner; ``properties`` is what /props returns.

    ``adds_bos`` is whether its tokenizer adds a token at the beginning of a text. Every text is
    streamed in ``chunks``, by default in one with the text " Ada".
    """

    model: str
    owner: str
    properties: Json | None = None
    adds_bos: bool = False
    chunks: Sequence[Json] = ()
    url: str = ""
    requests: list[tuple[str, Json]] = field(default_factory=list)
    """The path and the body of each request for a text, the first of which is the probe."""

    async def models(self, _: web.Request) -> web.Response:
        model = {"id": self.model, "object": "model", "created": 1, "owned_by": self.owner}
        return web.json_response({"object": "list", "data": [model]})

    async def props(self, _: web.Request) -> web.Response:
        if self.properties is None:
            return web.json_response({"error": {"message": "no such path"}}, status=404)
        return web.json_response(self.properties)

    async def tokenize(self, request: web.Request) -> web.Response:
        assert await request.json() == {"content": "", "add_special": True}
        return web.json_response({"tokens": [1] if self.adds_bos else []})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path, await request.json()))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for chunk in self.chunks or (self._chunk(request.path),):
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    def _chunk(self, path: str) -> Json:
        head = {"id": "1", "created": 1, "model": self.model}
        if path.endswith("/chat/completions"):
            choice: Json = {"index": 0, "finish_reason": "stop", "delta": {"content": " Ada"}}
            return {**head, "object": "chat.completion.chunk", "choices": [choice]}
        choice = {"index": 0, "finish_reason": "stop", "text": " Ada"}
        return {**head, "object": "text_completion", "choices": [choice]}


@asynccontextmanager
async def serving(server: ScriptedServer) -> AsyncIterator[ScriptedServer]:
    """Serve it on a free port; its URL is set."""
    app = web.Application()
    app.router.add_get("/v1/models", server.models)
    app.router.add_get("/props", server.props)
    app.router.add_post("/tokenize", server.tokenize)
    app.router.add_post("/v1/chat/completions", server.answer)
    app.router.add_post("/v1/completions", server.answer)
    async with listening(app, "127.0.0.1", 0) as url:
        server.url = url
        yield server
