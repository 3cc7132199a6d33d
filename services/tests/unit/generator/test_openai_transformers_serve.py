"""transformers serve, by a server with its list of models, its streams and its failures.

It draws tokens only if a request's generation configuration asks for it, and answers HTTP 500 for a
model that it cannot load.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from scaar.core.errors import BackendUnavailable
from scaar.core.types import Capability
from scaar.generator.factory import open_generator
from scaar.lab_servers.address import listening

from .openai_servers import settings_of, text_of, write

pytestmark = pytest.mark.slow

Json = dict[str, Any]
GREEDY, DRAWN = "Ada Ler.", "Bea Moss."
MODEL = "org/model"


@dataclass
class TransformersServe:
    """A server that loads the model of a request, and lists only models that are loaded."""

    loaded: list[str] = field(default_factory=list)
    requests: list[Json] = field(default_factory=list)

    async def models(self, _: web.Request) -> web.Response:
        status = {"value": "loaded"}
        entry = {"object": "model", "created": 0, "owned_by": "org", "status": status}
        return web.json_response(
            {"object": "list", "data": [{"id": x, **entry} for x in self.loaded]}
        )

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        if body["model"] != MODEL:
            return web.Response(text="Internal Server Error", status=500)
        if MODEL not in self.loaded:
            self.loaded.append(MODEL)
        text = DRAWN if _draws(body) else GREEDY
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        usage = {"prompt_tokens": 21, "completion_tokens": 3, "total_tokens": 24}
        chat = "messages" in body
        for chunk in (
            _chunk(text, chat=chat),
            {**_chunk("", chat=chat, end="stop"), "usage": usage},
        ):
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        return response

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/completions", self.answer)
        app.router.add_post("/v1/chat/completions", self.answer)
        async with listening(app, "127.0.0.1", 0) as url:
            yield url


def _draws(body: Json) -> bool:
    given = json.loads(body.get("generation_config", "{}"))
    return bool(given.get("do_sample")) and body["temperature"] > 0


def _chunk(text: str, *, chat: bool, end: str | None = None) -> Json:
    written = {"delta": {"content": text}} if chat else {"text": text}
    return {"id": "1", "choices": [{"index": 0, "finish_reason": end, **written}]}


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_a_temperature_makes_the_server_draw_from_the_whole_vocabulary(
    openai_api: str,
) -> None:
    server = TransformersServe([MODEL])
    async with (
        server.running() as url,
        open_generator(settings_of(url, openai_api=openai_api)) as generator,
    ):
        assert (await generator.describe_model()).capabilities == {Capability.SAMPLING}
        assert text_of(await write(generator)) == GREEDY
        assert "generation_config" not in server.requests[-1]
        assert text_of(await write(generator, temperature=0.7)) == DRAWN
        given = json.loads(server.requests[-1]["generation_config"])
        assert given == {"do_sample": True, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


async def test_a_server_is_recognized_once_it_lists_the_model_that_it_loaded() -> None:
    async with (
        TransformersServe().running() as url,
        open_generator(settings_of(url, model=MODEL)) as generator,
    ):
        await generator.describe_model()
        assert text_of(await write(generator, temperature=0.7)) == DRAWN


async def test_other_servers_are_not_sent_its_field() -> None:
    server = TransformersServe([MODEL])
    async with (
        server.running() as url,
        open_generator(settings_of(url, dialect="generic")) as generator,
    ):
        await write(generator, temperature=0.7)
        assert not any("generation_config" in each for each in server.requests)


@pytest.mark.parametrize(("loaded", "listed"), [([MODEL], MODEL), ([], "none")])
async def test_a_failure_with_an_unlisted_model_names_the_model_and_those_listed(
    loaded: list[str], listed: str
) -> None:
    async with TransformersServe(loaded).running() as url:
        with pytest.raises(BackendUnavailable) as caught:
            async with open_generator(settings_of(url, model="org/mode")):
                pass
    expected = (
        f"the model server at {url}/v1 rejected the request with HTTP 500; it does not list the "
        f"model org/mode: check SCAAR_GENERATOR_MODEL (listed: {listed})"
    )
    assert caught.value.message == expected
