"""The port's suite over a llama.cpp server, and over the engine that runs a GGUF file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.core.ports import Generator
from scaar.generator.factory import open_generator
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.sockets import TRANSPORTS, generator_by

from ..servers.llama_cpp.llama_cpp_server import LlamaCppServer
from .conftest import settings_for, settings_of_file


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("transport", TRANSPORTS)
class TestLabModelInGgufFile(GeneratorConformance):
    prompt = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
    logprob_tolerance = 1e-3

    @pytest.fixture
    async def generator(self, lab_gguf: Path, transport: str) -> AsyncIterator[Generator]:
        settings = settings_of_file(lab_gguf, prompt_profile="lab")
        async with open_generator(settings) as engine, generator_by(transport, engine) as generator:
            yield generator


@pytest.mark.parametrize("transport", ["grpc"])
class TestInstructModelInGgufFile(GeneratorConformance):
    prompt = "Write three sentences about Rome."
    # Tokens that were written and tokens that are read together differ in rounding.
    logprob_tolerance = 0.3

    @pytest.fixture
    async def generator(self, smollm2: Path, transport: str) -> AsyncIterator[Generator]:
        async with (
            open_generator(settings_of_file(smollm2, max_total_tokens=2048)) as engine,
            generator_by(transport, engine) as generator,
        ):
            yield generator
