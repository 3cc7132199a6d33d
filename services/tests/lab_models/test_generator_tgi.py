"""The client of a TGI server keeps to the generator's suite, embedded and over gRPC."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, Token
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.tgi import open_tgi_server
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.sockets import TRANSPORTS, generator_by


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestTgiGenerator(GeneratorConformance):
    prompt = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
    logprob_tolerance = 1e-6

    @pytest.fixture
    async def generator(self, transport: str) -> AsyncIterator[Generator]:
        async with (
            open_tgi_server() as server,
            open_generator(GeneratorSettings(engine="tgi", url=server.url)) as engine,
            generator_by(transport, engine) as generator,
        ):
            yield generator
            async with asyncio.timeout(10):
                await server.generations.until_idle()


@pytest.mark.parametrize(("temperature", "reported"), [(0.0, True), (1.0, True), (0.7, False)])
async def test_logprobs_that_the_temperature_changed_are_left_out(
    temperature: float, reported: bool
) -> None:
    async with (
        open_tgi_server() as server,
        open_generator(GeneratorSettings(engine="tgi", url=server.url)) as engine,
    ):
        request = GenerateRequest("Question: who?\nAnswer:", temperature=temperature, top_tokens=2)
        tokens = [each async for each in engine.generate(request) if isinstance(each, Token)]
    assert tokens
    assert all((each.logprob is not None) == bool(each.top) == reported for each in tokens)
