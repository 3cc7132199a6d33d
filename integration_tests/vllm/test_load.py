"""vLLM under many streams and cancelled calls."""

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, Token
from scaar.generator.factory import open_generator

from ..servers.vllm.vllm_server import VllmServer
from .conftest import settings_for

REQUEST = GenerateRequest(
    "Question: Who is the spouse of the director of the film The Haunted Fountain?\nAnswer:",
    max_tokens=64,
)


async def written(generator: Generator, request: GenerateRequest = REQUEST) -> list[Token]:
    """Return the tokens of a generation."""
    async with aclosing(generator.generate(request)) as events:
        return [event async for event in events if isinstance(event, Token)]


def as_before(found: list[Token], expected: list[Token]) -> bool:
    """Return whether the tokens are the same, with log-probabilities to within rounding."""
    return [token.text for token in found] == [token.text for token in expected] and all(
        one.logprob == pytest.approx(other.logprob, abs=1e-4)
        for one, other in zip(found, expected, strict=True)
    )


def until_idle(vllm: VllmServer) -> None:
    """Wait until the server has no request."""
    ends = time.monotonic() + 300
    while vllm.metric("num_requests_running") + vllm.metric("num_requests_waiting"):
        assert time.monotonic() < ends
        time.sleep(0.1)


async def test_64_streams_read_a_shared_prompt_once_and_write_the_same(vllm: VllmServer) -> None:
    async with open_generator(settings_for(vllm, max_concurrent=64)) as generator:
        shared = replace(REQUEST, prompt=f"{'The film. ' * 100}{REQUEST.prompt}")
        expected = await written(generator, shared)
        hits = vllm.metric("prefix_cache_hits_total")
        found = await asyncio.gather(*(written(generator, shared) for _ in range(64)))
        assert all(as_before(each, expected) for each in found)
        assert vllm.metric("prefix_cache_hits_total") - hits >= 64 * 128


async def test_a_cancelled_generation_ends_on_the_server(vllm: VllmServer) -> None:
    async with open_generator(settings_for(vllm)) as generator:
        whole = len(await written(generator))
        before = vllm.metric("generation_tokens_total")
        for _ in range(4):
            async with aclosing(generator.generate(REQUEST)) as events:
                async for event in events:
                    if isinstance(event, Token):
                        break
        await asyncio.to_thread(until_idle, vllm)
        assert vllm.metric("generation_tokens_total") - before < 4 * whole
