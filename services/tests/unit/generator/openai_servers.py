"""The lab's OpenAI-compatible server and the engine over it, opened together."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, GenerationEnd, GenerationEvent, Token
from scaar.generator.engines.openai import open_openai_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.openai import OpenAiServer, open_openai_server
from scaar.lab_servers.openai_failures import Failure
from scaar.testing.sockets import generator_by

PROMPT = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
REQUEST = GenerateRequest(PROMPT, max_tokens=12)


@dataclass
class Opened:
    """The server, the engine over it, and the pauses that the engine made."""

    server: OpenAiServer
    generator: Generator
    pauses: list[float] = field(default_factory=list)

    async def idle(self) -> None:
        """Wait until no generation is in progress on the server."""
        async with asyncio.timeout(10):
            await self.server.generations.until_idle()


def settings_of(url: str, **fields: Any) -> GeneratorSettings:
    """Those of the engine over a server that listens there."""
    return GeneratorSettings.model_validate({"engine": "openai", "url": url, **fields})


@asynccontextmanager
async def opened(
    dialect: Any = "vllm",
    *,
    fail: Sequence[Failure] = (),
    transport: str = "embedded",
    server: dict[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[Opened]:
    """Both; the server fails as configured from the first generation of the test."""
    pauses = list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with (
        open_openai_server(dialect=dialect, **(server or {})) as lab,
        open_openai_generator(settings_of(lab.url, **settings), sleep=sleep) as engine,
        generator_by(transport, engine) as generator,
    ):
        for kind in fail:
            lab.failures.inject(kind)
        lab.generations.accepted.clear()
        lab.generations.ended = 0
        yield Opened(lab, generator, pauses)


async def write(
    generator: Generator, *, into: list[GenerationEvent] | None = None, **fields: Any
) -> list[GenerationEvent]:
    """The events of the request, but for these fields."""
    written = [] if into is None else into
    async with aclosing(generator.generate(replace(REQUEST, **fields))) as events:
        async for event in events:
            written.append(event)
    return written


def tokens_of(events: Sequence[GenerationEvent]) -> list[Token]:
    """Those among the events."""
    return [event for event in events if isinstance(event, Token)]


def text_of(events: Sequence[GenerationEvent]) -> str:
    """What they say."""
    return "".join(token.text for token in tokens_of(events))


def end_of(events: Sequence[GenerationEvent]) -> GenerationEnd:
    """The last of them."""
    end = events[-1]
    assert isinstance(end, GenerationEnd)
    return end
