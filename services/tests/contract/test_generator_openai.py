"""The engine over servers of OpenAI's interface keeps to the generator's suite.

Every dialect as completions, embedded and over gRPC, and as chats, which differ from those in what
is asked and told and not in how it is carried.
"""

from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Generator
from scaar.generator.engines.openai_server.dialects import DIALECTS, DialectName
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.lab_servers.openai import OpenAiServer, open_openai_server
from scaar.testing.sockets import TRANSPORTS, generator_by

COMPLETIONS = [
    (dialect, "completions", transport) for dialect in DIALECTS for transport in TRANSPORTS
]
CHATS = [
    ("openai", "chat", "grpc"),
    ("vllm", "chat", "embedded"),
    ("sglang", "chat", "embedded"),
    ("llama_cpp", "chat", "grpc"),
]


@pytest.mark.parametrize(("dialect", "openai_api", "transport"), [*COMPLETIONS, *CHATS])
class TestOpenAiGenerator(GeneratorConformance):
    prompt = "Question: Who directed the film The Haunted Fountain?\nAnswer:"

    @pytest.fixture
    async def server(self, dialect: DialectName) -> AsyncIterator[OpenAiServer]:
        async with open_openai_server(dialect=dialect, max_total_tokens=2048) as server:
            yield server

    @pytest.fixture
    async def generator(
        self, transport: str, openai_api: str, server: OpenAiServer
    ) -> AsyncIterator[Generator]:
        settings = GeneratorSettings.model_validate(
            {"engine": "openai", "url": server.url, "openai_api": openai_api}
        )
        async with (
            open_generator(settings) as engine,
            generator_by(transport, engine) as generator,
        ):
            yield generator
