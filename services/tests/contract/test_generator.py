from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.fakes import Piece, ScriptedGenerator
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


def script(request: GenerateRequest) -> list[Piece]:
    text, rest = request.prefix, list(PIECES)
    while rest and text.startswith(rest[0][0]):
        text = text[len(rest.pop(0)[0]) :]
    return rest


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestScriptedGenerator(GeneratorConformance):
    @pytest.fixture
    async def generator(self, transport: str) -> AsyncIterator[Generator]:
        async with generator_by(transport, ScriptedGenerator(script)) as generator:
            yield generator
