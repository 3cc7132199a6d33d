from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Generator
from scaar.generator.factory import open_generator
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.sockets import generator_by

from ..servers.llama_cpp.llama_cpp_server import LlamaCppServer
from .conftest import settings_for


@pytest.mark.parametrize(
    ("openai_api", "transport"), [("completions", "embedded"), ("chat", "grpc")]
)
class TestLlamaCppGenerator(GeneratorConformance):
    prompt = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
    # Keys and values are 16-bit numbers by default, whose rounding depends on the batch.
    logprob_tolerance = 1e-3

    @pytest.fixture
    async def generator(
        self, llama_cpp: LlamaCppServer, openai_api: str, transport: str
    ) -> AsyncIterator[Generator]:
        async with (
            open_generator(settings_for(llama_cpp, openai_api=openai_api)) as engine,
            generator_by(transport, engine) as generator,
        ):
            yield generator
