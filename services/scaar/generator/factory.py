"""Factory of generators."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import assert_never

from scaar.core.distributions import library_required
from scaar.core.ports import Generator
from scaar.generator.pace import PacedGenerator
from scaar.generator.recommended_settings import RecommendingGenerator, recommended_of
from scaar.generator.settings import GeneratorSettings, check_together

_EXTRAS = {"onnx": "generator", "llama_cpp": "llama-cpp"}
"""Extras with another name than their engine."""


@asynccontextmanager
async def open_generator(settings: GeneratorSettings) -> AsyncIterator[Generator]:
    """Open the generator of the settings, with its pace and recommendations, for the block.

    Raises: as :func:`open_engine`.
    """
    async with open_engine(settings) as engine:
        yield with_pace_and_recommendations(engine, settings)


def with_pace_and_recommendations(engine: Generator, settings: GeneratorSettings) -> Generator:
    """Return the generator of the settings over its open engine."""
    generator = engine
    if settings.pace_ms:
        generator = PacedGenerator(generator, settings.pace_ms / 1000)
    if settings.recommended:
        generator = RecommendingGenerator(generator, recommended_of(settings.recommended))
    return generator


@asynccontextmanager
async def open_engine(settings: GeneratorSettings) -> AsyncIterator[Generator]:
    """Open the engine of the settings for the block.

    Raises:
        InvalidRequest: the settings are incompatible.
        NotFound: no model is set, or one of its files is missing.
        DataCorrupt: a file of the model is damaged, or the engine cannot run the model.
        BackendUnavailable: the model server does not answer.
        CapabilityMissing: the libraries of the engine are not installed.
    """
    check_together(settings)
    extra = _EXTRAS.get(settings.engine, settings.engine)
    with library_required(f"engine {settings.engine}", extra, engine=settings.engine):
        opening = _open_engine(settings)
    async with opening as engine:
        yield engine


def _open_engine(settings: GeneratorSettings) -> AbstractAsyncContextManager[Generator]:
    match settings.engine:
        case "onnx":
            from scaar.generator.engines.onnx import open_onnx_generator

            return open_onnx_generator(settings)
        case "tgi":
            from scaar.generator.engines.tgi import open_tgi_generator

            return open_tgi_generator(settings)
        case "openai":
            from scaar.generator.engines.openai import open_openai_generator

            return open_openai_generator(settings)
        case "llama_cpp":
            from scaar.generator.engines.llama_cpp import open_llama_cpp_generator

            return open_llama_cpp_generator(settings)
        case "transformers":
            from scaar.generator.engines.transformers import open_transformers_generator

            return open_transformers_generator(settings)
        case _:
            assert_never(settings.engine)
