"""A generator keeps to its suite: the scripted one, embedded and over gRPC."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, GenerationEvent
from scaar.generator.validation import check_generate, check_room
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.fakes import SCRIPTED_MODEL, Piece, ScriptedGenerator
from scaar.testing.sockets import TRANSPORTS, generator_by

PIECES: tuple[Piece, ...] = (
    (" Ada", -0.1),
    (" Love", -0.2),
    ("lace", 0.0),
    (" was", -1.5),
    (" born 🙂", -0.3),
    (" in", -0.01),
    (" London.", -2.0),
)


class CheckedGenerator(ScriptedGenerator):
    """The script behind the checks that the engines make."""

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        check_generate(request, vocabulary=1000)
        check_room("prompt", len(request.prompt.split()), SCRIPTED_MODEL.max_total_tokens)
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event


def script(request: GenerateRequest) -> list[Piece]:
    text, rest = request.prefix, list(PIECES)
    while rest and text.startswith(rest[0][0]):
        text = text[len(rest.pop(0)[0]) :]
    return rest


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestScriptedGenerator(GeneratorConformance):
    @pytest.fixture
    async def generator(self, transport: str) -> AsyncIterator[Generator]:
        async with generator_by(transport, CheckedGenerator(script)) as generator:
            yield generator
