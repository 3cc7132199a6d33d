"""Engine ``onnx``: a decoder exported with its key-value cache, in ONNX Runtime."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from scaar.core.errors import NotFound
from scaar.core.types import ModelKind
from scaar.generator.engines.decoding.generator import DecodingGenerator, open_decoding_generator
from scaar.generator.engines.decoding.language_model import LanguageModel, open_language_model
from scaar.generator.model_kind import find_kind
from scaar.generator.prompt_profiles import DEFAULT_PROFILE
from scaar.generator.settings import GeneratorSettings


@asynccontextmanager
async def open_onnx_generator(settings: GeneratorSettings) -> AsyncIterator[DecodingGenerator]:
    """Open the generator over the model folder of the settings; see :func:`open_generator`."""
    if settings.model is None:
        raise NotFound("no language model is set: set SCAAR_GENERATOR_MODEL to its folder")
    folder = Path(settings.model)
    async with open_decoding_generator(
        settings, lambda: _open_model(folder, settings), engine="onnx"
    ) as generator:
        yield generator


def _open_model(folder: Path, settings: GeneratorSettings) -> LanguageModel:
    """Open the model with its kind. Blocks while it reads the files."""
    model = open_language_model(folder, threads=settings.threads or 1)
    if settings.model_kind == "auto" and model.prompt_profile != DEFAULT_PROFILE:
        # The folder names a profile of its own, for which the model was trained.
        return replace(model, kind=ModelKind.BASE)
    return replace(model, kind=find_kind(settings, (model.name,)).kind)
