"""Opens the generator that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

from scaar.core.ports import Generator
from scaar.generator.settings import GeneratorSettings


@asynccontextmanager
async def open_generator(settings: GeneratorSettings) -> AsyncIterator[Generator]:
    """The generator, open until the block ends.

    Raises:
        NotFound: no model is set, or one of its files is missing.
        DataCorrupt: a file of the model is damaged, or not of a model that the engine can run.
    """
    match settings.engine:
        case "onnx":
            from scaar.generator.engines.onnx import open_onnx_generator

            async with open_onnx_generator(settings) as generator:
                yield generator
        case _:
            assert_never(settings.engine)
