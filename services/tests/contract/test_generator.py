"""A generator keeps to its suite: the scripted one, embedded and over gRPC."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

import pytest

from scaar.core.ports import Generator
from scaar.core.types import (
    GenerateRequest,
    GenerationEvent,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
    Token,
)
from scaar.generator.validation import check_generate, check_logprobs, check_room
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.fakes import SAMPLED_MODEL, SCRIPTED_MODEL, Piece, ScriptedGenerator
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
        model = await self.describe_model()
        check_generate(
            request,
            vocabulary=1000,
            capabilities=model.capabilities,
            hidden_layers=model.hidden_layers,
        )
        check_room("prompt", len(request.prompt.split()), SCRIPTED_MODEL.max_total_tokens)
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        capabilities = (await self.describe_model()).capabilities
        check_logprobs(request, vocabulary=1000, capabilities=capabilities)
        return await super().compute_logprobs(request)


def script(request: GenerateRequest) -> list[Piece]:
    text, rest = request.prefix, list(PIECES)
    while rest and text.startswith(rest[0][0]):
        text = text[len(rest.pop(0)[0]) :]
    return rest


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
@pytest.mark.parametrize("model", [SCRIPTED_MODEL, SAMPLED_MODEL], ids=["plain", "sampled"])
class TestScriptedGenerator(GeneratorConformance):
    @pytest.fixture
    async def generator(self, transport: str, model: ModelDescription) -> AsyncIterator[Generator]:
        async with generator_by(transport, CheckedGenerator(script, model=model)) as generator:
            yield generator

    def _assert_written(self, read: Sequence[Token], written: Sequence[Token]) -> None:
        """The script has tokens and log-probabilities of its own for given texts."""
