from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Generator
from scaar.generator.factory import open_generator
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.sockets import generator_by

from ..servers.vllm.vllm_server import VllmServer
from .conftest import settings_for


@pytest.mark.parametrize(
    ("openai_api", "transport"), [("completions", "embedded"), ("chat", "grpc")]
)
class TestVllmGenerator(GeneratorConformance):
    prompt = "Question: Who directed the film The Haunted Fountain?\nAnswer:"

    @pytest.fixture
    async def generator(
        self, vllm: VllmServer, openai_api: str, transport: str
    ) -> AsyncIterator[Generator]:
        async with (
            open_generator(settings_for(vllm, openai_api=openai_api)) as engine,
            generator_by(transport, engine) as generator,
        ):
            yield generator
