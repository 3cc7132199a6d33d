"""The conformance suite of generators, on the engine for servers of OpenAI's interface.

Every dialect runs as completions and as chats, one embedded and one over gRPC: dialects differ in
what they send to the server, not in how the answer reaches the caller.
"""

from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Generator
from scaar.generator.engines.openai_server.dialects import DialectName
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.openai import OpenAiServer, open_openai_server
from scaar.lab_servers.openai_wire import REPRODUCED
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.sockets import TRANSPORTS, generator_by

CARRIED = [
    ("generic", "completions", "grpc"),
    ("generic", "chat", "embedded"),
    ("openai", "completions", "embedded"),
    ("openai", "chat", "grpc"),
    ("vllm", "completions", "grpc"),
    ("vllm", "chat", "embedded"),
    ("sglang", "completions", "grpc"),
    ("sglang", "chat", "embedded"),
    ("llama_cpp", "completions", "embedded"),
    ("llama_cpp", "chat", "grpc"),
]


def test_every_dialect_runs_on_both_interfaces_and_both_transports() -> None:
    for dialect in REPRODUCED:
        found = [each for each in CARRIED if each[0] == dialect]
        assert {api for _, api, _ in found} == {"completions", "chat"}
        assert {transport for *_, transport in found} == {*TRANSPORTS}


@pytest.mark.parametrize(("dialect", "openai_api", "transport"), CARRIED)
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
