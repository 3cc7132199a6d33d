"""A llama.cpp server that reports how much of the prompt it has read."""

from typing import Any

import pytest

from scaar.core.types import GenerationProgress, GenerationStart
from scaar.generator.engines.openai import open_openai_generator

from .openai_servers import end_of, settings_of, text_of, write
from .scripted_openai import Json, ScriptedServer, serving


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
        serving(ScriptedServer("m", "llamacpp", chunks=chunks)) as server,
        open_openai_generator(settings_of(server.url)) as generator,
    ):
        events = await write(generator)
    assert all(body["return_progress"] for _, body in server.requests)
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
    async with (
        serving(ScriptedServer("m", "llamacpp", chunks=chunks)) as server,
        open_openai_generator(settings_of(server.url)) as generator,
    ):
        events = await write(generator)
    assert events[0] == GenerationStart(30)
