"""The embedded engine over the lab's model keeps to the generator's suite.

Embedded and over gRPC, with and without what was read before, and in batches.
"""

from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import Generator
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.sockets import TRANSPORTS, generator_by


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("prefix_cache_mb", [64, 0])
class TestOnnxGenerator(GeneratorConformance):
    prompt = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
    logprob_tolerance = 1e-6
    max_batch = 1

    @pytest.fixture
    async def generator(  # type: ignore[override]
        self, transport: str, prefix_cache_mb: int
    ) -> AsyncIterator[Generator]:
        settings = GeneratorSettings(
            model=str(model_folder(LAB_LM)),
            prefix_cache_mb=prefix_cache_mb,
            max_batch=self.max_batch,
        )
        async with (
            open_generator(settings) as engine,
            generator_by(transport, engine) as generator,
        ):
            yield generator


class TestBatchingOnnxGenerator(TestOnnxGenerator):
    logprob_tolerance = 1e-4
    max_batch = 8
