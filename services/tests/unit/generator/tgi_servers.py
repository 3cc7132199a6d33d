"""A TGI server of the lab and its client's engine, opened together."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, GenerationEnd, GenerationEvent, Token
from scaar.generator.engines.tgi import open_tgi_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.tgi import TgiServer, open_tgi_server
from scaar.testing.sockets import generator_by

PROMPT = "Question: Who directed the film The Haunted Fountain?\nAnswer:"


@dataclass
class Opened:
    """The server, the engine over it, and the pauses that the engine made."""

    server: TgiServer
    generator: Generator
    pauses: list[float] = field(default_factory=list)

    async def idle(self) -> None:
        """Wait until no generation is in progress on the server."""
        async with asyncio.timeout(10):
            await self.server.generations.until_idle()


@asynccontextmanager
async def opened(
    *fail: str,
    transport: str = "embedded",
    server: dict[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[Opened]:
    """Open both, with settings of the engine, and assert that the server is idle at the end."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with open_tgi_server(fail=fail, **server or {}) as running:
        settings = {"engine": "tgi", "url": running.url, **settings}
        async with (
            open_tgi_generator(GeneratorSettings(**settings), sleep=sleep) as engine,
            generator_by(transport, engine) as generator,
        ):
            both = Opened(running, generator, pauses)
            yield both
            await both.idle()


async def write(
    generator: Generator, *, into: list[GenerationEvent] | None = None, **fields: Any
) -> list[GenerationEvent]:
    """The events of a generation."""
    written = [] if into is None else into
    request = GenerateRequest(**{"prompt": PROMPT, "max_tokens": 12, **fields})
    async with aclosing(generator.generate(request)) as events:
        async for event in events:
            written.append(event)
    return written


def tokens_of(events: Sequence[GenerationEvent]) -> list[Token]:
    """The tokens among them."""
    return [event for event in events if isinstance(event, Token)]


def text_of(events: Sequence[GenerationEvent]) -> str:
    """The text of the tokens among them."""
    return "".join(token.text for token in tokens_of(events))


def end_of(events: Sequence[GenerationEvent]) -> GenerationEnd:
    """The last of them."""
    end = events[-1]
    assert isinstance(end, GenerationEnd)
    return end
