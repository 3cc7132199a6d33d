"""A server of ``/v1/rerank`` in this process, which counts common words."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from scaar.testing.conformance.reranking import relevance


@dataclass
class RerankServer:
    """Answers as servers of ``/v1/rerank`` do, best first, or with what a test sets."""

    status: int = 200
    answer: Any = None
    """The body of every response, as JSON or as text; None computes it."""
    delay_s: float = 0.0
    path: str = "/v1/rerank"
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post(self.path, self._rerank)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._runner.cleanup()

    async def _rerank(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.requests.append(asked)
        self.headers.append(dict(request.headers))
        await asyncio.sleep(self.delay_s)
        if isinstance(self.answer, str):
            return web.Response(text=self.answer, status=self.status)
        answer = self.answer if self.answer is not None else _computed(asked)
        return web.json_response(answer, status=self.status)


def _computed(asked: dict[str, Any]) -> dict[str, Any]:
    results = [
        {"index": index, "relevance_score": relevance(asked["query"], text)}
        for index, text in enumerate(asked["documents"])
    ]
    results.sort(key=lambda each: -each["relevance_score"])
    return {"model": asked.get("model"), "results": results[: asked["top_n"]]}
