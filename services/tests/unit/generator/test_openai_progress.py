"""A llama.cpp server that reports how much of the prompt it has read."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from scaar.core.types import GenerationProgress, GenerationStart
from scaar.generator.engines.openai import open_openai_generator
from scaar.lab_servers.address import listening

from .openai_servers import end_of, settings_of, text_of, write

Json = dict[str, Any]


def chunk(**fields: Any) -> Json:
    choice = {"index": 0, "text": "", "logprobs": None, "finish_reason": None}
    return {"id": "1", "object": "text_completion", "choices": [choice], **fields}


def progress(total: int, processed: int) -> Json:
    # It counts what it has read so far in the timings, too.
    timings = {"prompt_n": processed, "cache_n": 0}
    counts = {"total": total, "cache": 0, "processed": processed, "time_ms": 1}
    return chunk(prompt_progress=counts, timings=timings)


def text(written: str, total: int, reason: str | None = None) -> Json:
    choice = {"index": 0, "text": written, "logprobs": None, "finish_reason": reason}
    return chunk(choices=[choice], timings={"prompt_n": total - 10, "cache_n": 10})


@asynccontextmanager
async def serving(chunks: Sequence[Json]) -> AsyncIterator[tuple[str, list[Json]]]:
    """The URL of a server that streams the chunks for every completion, and its requests."""
    requests = list[Json]()

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "m", "owned_by": "llamacpp"}]})

    async def complete(request: web.Request) -> web.StreamResponse:
        requests.append(await request.json())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for each in chunks:
            await response.write(f"data: {json.dumps(each)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/completions", complete)
    async with listening(app, "127.0.0.1", 0) as url:
        yield url, requests


@pytest.mark.slow
async def test_the_progress_of_a_long_prompt_comes_before_its_tokens() -> None:
    chunks = [
        progress(3000, 0),
        progress(3000, 2048),
        progress(3000, 3000),
        text("a", 3000),
        text(" b", 3000, "length"),
    ]
    async with (
        serving(chunks) as (url, requests),
        open_openai_generator(settings_of(url)) as generator,
    ):
        events = await write(generator)
    assert all(request["return_progress"] for request in requests)
    assert events[:3] == [
        GenerationProgress(3000, 0),
        GenerationProgress(3000, 2048),
        GenerationStart(3000),
    ]
    assert text_of(events) == "a b"
    assert (end_of(events).prompt_tokens, end_of(events).evaluated_tokens) == (3000, 2990)


@pytest.mark.slow
async def test_no_progress_of_a_short_prompt_is_reported() -> None:
    chunks = [progress(30, 0), progress(30, 30), text("a", 30, "length")]
    async with serving(chunks) as (url, _), open_openai_generator(settings_of(url)) as generator:
        events = await write(generator)
    assert events[0] == GenerationStart(30)
