"""A server of OpenAI's interface that serves one text, and keeps the requests."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from scaar.lab_servers.address import listening

Json = dict[str, Any]


@dataclass
class ScriptedServer:
    """A server whose models have this name and owner; ``properties`` is what /props returns.

    ``adds_bos`` is whether its tokenizer adds a token at the beginning of a text.
    """

    model: str
    owner: str
    properties: Json | None = None
    adds_bos: bool = False
    url: str = ""
    requests: list[tuple[str, Json]] = field(default_factory=list)
    """The path and the body of each request for a text, without the probe."""

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
        chat = request.path.endswith("/chat/completions")
        part: Json = {"delta": {"content": " Ada"}} if chat else {"text": " Ada"}
        head = {"id": "1", "created": 1, "model": self.model}
        head["object"] = "chat.completion.chunk" if chat else "text_completion"
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        chunk = {**head, "choices": [{"index": 0, "finish_reason": "stop", **part}]}
        await response.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())
        return response


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
