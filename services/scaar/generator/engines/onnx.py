"""Engine ``onnx``: a decoder exported with its key-value cache, in ONNX Runtime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from scaar.core.errors import NotFound
from scaar.generator.engines.decoding.generator import DecodingGenerator, open_decoding_generator
from scaar.generator.engines.decoding.language_model import open_language_model
from scaar.generator.settings import GeneratorSettings


@asynccontextmanager
async def open_onnx_generator(settings: GeneratorSettings) -> AsyncIterator[DecodingGenerator]:
    """Open the generator over the model folder of the settings; see :func:`open_generator`."""
    if settings.model is None:
        raise NotFound("no language model is set: set SCAAR_GENERATOR_MODEL to its folder")
    folder = Path(settings.model)
    async with open_decoding_generator(
        settings, lambda: open_language_model(folder, threads=settings.threads), engine="onnx"
    ) as generator:
        yield generator
