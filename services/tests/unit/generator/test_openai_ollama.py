"""Ollama's interface, from streams in the format of its documentation.

Its chats report thoughts in ``reasoning`` and log-probabilities as OpenAI's; its completions have
no log-probabilities. A model is listed with its tag and answers without it.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from scaar.core.types import Capability, ContinuationKind, FinishReason
from scaar.generator.factory import open_generator
from scaar.lab_servers.address import listening

from .openai_servers import end_of, settings_of, text_of, tokens_of, write

pytestmark = pytest.mark.slow

Json = dict[str, Any]
ANSWER = (("Ada", -0.2), (" Ler", -0.01), (".", -0.5))
THOUGHTS = (("The", -2.0), (" user", -3.0))
COMMON: Json = {"id": "chatcmpl-7", "created": 1_764_000_000, "model": "qwen3:latest"}
COMMON |= {"system_fingerprint": "fp_ollama"}


def chunk(delta: Json, logprob: float | None, *, reason: str | None = None) -> Json:
    choice: Json = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
    if logprob is not None:
        text = delta.get("reasoning") or delta["content"]
        entry = {"token": text, "logprob": logprob, "bytes": list(text.encode())}
        choice["logprobs"] = {"content": [{**entry, "top_logprobs": []}]}
    return {**COMMON, "object": "chat.completion.chunk", "choices": [choice]}


def chat(*, thinks: bool) -> list[Json]:
    thoughts = THOUGHTS if thinks else ()
    usage = {"prompt_tokens": 21, "completion_tokens": len(thoughts) + 4, "total_tokens": 25}
    return [
        *(chunk({"content": "", "reasoning": text}, logprob) for text, logprob in thoughts),
        *(chunk({"content": text}, logprob) for text, logprob in ANSWER),
        chunk({"content": ""}, None, reason="stop"),
        {**COMMON, "object": "chat.completion.chunk", "choices": [], "usage": usage},
    ]


def completion() -> list[Json]:
    head = {**COMMON, "object": "text_completion"}
    choices = [{"text": text, "index": 0, "finish_reason": None} for text, _ in ANSWER]
    choices.append({"text": "", "index": 0, "finish_reason": "stop"})
    return [{**head, "choices": [choice]} for choice in choices]


@asynccontextmanager
async def ollama(chunks: Sequence[Json], requests: list[Json]) -> AsyncIterator[str]:
    async def models(_: web.Request) -> web.Response:
        model = {"id": "qwen3:latest", "object": "model", "created": 1, "owned_by": "library"}
        return web.json_response({"object": "list", "data": [model]})

    async def answer(request: web.Request) -> web.StreamResponse:
        requests.append(await request.json())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for each in chunks:
            await response.write(f"data: {json.dumps(each)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", answer)
    app.router.add_post("/v1/completions", answer)
    async with listening(app, "127.0.0.1", 0) as url:
        yield url


@pytest.mark.parametrize("thinks", [False, True])
async def test_a_chat_has_the_answer_with_its_log_probabilities(thinks: bool) -> None:
    requests: list[Json] = []
    async with (
        ollama(chat(thinks=thinks), requests) as url,
        open_generator(settings_of(url, model="qwen3", openai_api="chat")) as generator,
    ):
        model = await generator.describe_model()
        assert (model.model, model.continuation) == ("qwen3", ContinuationKind.NATIVE)
        assert model.capabilities == {
            Capability.LOGPROBS,
            Capability.SAMPLING,
            Capability.SEED,
            Capability.SYSTEM_TURN,
        }
        events = await write(generator)
    assert text_of(events) == "Ada Ler."
    assert [token.logprob for token in tokens_of(events)] == [logprob for _, logprob in ANSWER]
    end = end_of(events)
    assert (end.finish_reason, end.prompt_tokens) == (FinishReason.END_OF_SEQUENCE, 21)
    assert (end.generated_tokens, end.thinking_tokens) == (4, 2 if thinks else 0)
    assert all(request["reasoning_effort"] == "none" for request in requests)
    assert not any("max_completion_tokens" in request for request in requests)


async def test_a_completion_has_no_log_probabilities_and_no_usage() -> None:
    requests: list[Json] = []
    async with (
        ollama(completion(), requests) as url,
        open_generator(settings_of(url, model="qwen3")) as generator,
    ):
        capabilities = (await generator.describe_model()).capabilities
        assert capabilities == {Capability.SAMPLING, Capability.SEED}
        events = await write(generator)
    assert text_of(events) == "Ada Ler."
    end = end_of(events)
    assert (end.prompt_tokens, end.generated_tokens) == (0, 3)
