"""The models that a process uses where no setting names another one, from providers of defaults."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose.models import resolve_model
from scaar.core.defaults import DEFAULTS
from scaar.core.defaults.text_kinds import (
    default_encoder,
    default_scorer,
    kind_of_name,
    kind_of_profile,
)
from scaar.core.errors import CapabilityMissing
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.model_store.catalogue import DEFAULT_MODEL
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.generator.settings import GeneratorSettings
    from scaar.scorer.settings import ScorerSettings

_LIBRARIES_OF_VECTORS = ("faiss", "onnxruntime", "tokenizers")


def default_index_name(settings: OrchestratorSettings) -> str:
    """Return the index of requests that name none: that of the settings, else of a provider.

    Empty if no provider with an index is installed.
    """
    indexes = (provider.index for provider in DEFAULTS.values())
    return settings.default_index or next((index.name for index in indexes if index), "")


def language_model_folder(name: str | None) -> Path | None:
    """Return the folder of a provider's language model, by default of the first; None if none."""
    for provider in DEFAULTS.values():
        for known, folder in provider.language_models.items():
            if name in (None, known):
                return folder
    return None


def with_default_language_model(settings: "GeneratorSettings") -> "GeneratorSettings":
    """Return the settings with the file or the folder of the model that they name or default to.

    Raises:
        CapabilityMissing: no model is set, and no provider with a language model is installed.
        NotFound: the model for ``llama_cpp`` is not on this machine.
    """
    if settings.engine == "llama_cpp" and settings.model is not None:
        return settings.model_copy(update={"model": str(resolve_model(settings.model))})
    if settings.engine != "onnx":
        return settings
    folder = language_model_folder(settings.model)
    if folder is not None:
        return settings.model_copy(update={"model": str(folder)})
    if settings.model is None:
        raise CapabilityMissing(
            "no language model is set: set SCAAR_GENERATOR_ENGINE and SCAAR_GENERATOR_MODEL (such "
            f"as llama_cpp and {DEFAULT_MODEL}), or install scaar-lab"
        )
    return settings


def with_default_scorer(settings: "ScorerSettings") -> "ScorerSettings":
    """Return the settings with the scorer of a provider, if they name no model.

    It is the scorer of ``text_kind``, if that is set, else the one that fits the language model of
    the generator's settings.

    Raises:
        CapabilityMissing: no provider with such a scorer is installed; says what to install or set.
    """
    if settings.control == "idf":
        return settings
    if settings.model is not None:
        return settings.model_copy(update={"text_kind": _known(settings) or settings.text_kind})
    try:
        provider = default_scorer(settings.text_kind or _kind_of_language_model())
    except CapabilityMissing:
        if "engine" in settings.model_fields_set:
            return settings  # whose engine names what it lacks
        raise
    assert provider.scorer is not None
    engine, folder = provider.scorer.engine, provider.scorer.folder
    given = settings.engine if "engine" in settings.model_fields_set else engine
    # A cross-encoder's folder has the tokenizer for Triton too.
    if given != engine and (given, engine) != ("triton", "onnx"):
        return settings
    found = {"engine": given, "model": folder, "text_kind": provider.text_kind}
    return settings.model_copy(update=found)


def missing_scorer() -> CapabilityMissing | None:
    """Return the error of an installation without a scorer for its model; None if it has one."""
    from scaar.scorer.settings import ScorerSettings

    try:
        with_default_scorer(ScorerSettings.read())
    except CapabilityMissing as error:
        return error
    return None


def can_index_vectors(index: str) -> bool:
    """Return whether the embedded retriever has an encoder and libraries for vectors of an index.

    Raises:
        InvalidRequest: a setting of the retriever is invalid.
    """
    from scaar.retriever.settings import RetrieverSettings

    encoder = RetrieverSettings.read().encoder or default_encoder(kind_of_name(index))
    return encoder is not None and all(map(find_spec, _LIBRARIES_OF_VECTORS))


def _known(settings: "ScorerSettings") -> str:
    """Return the kind of the provider whose scorer is in the folder of the settings."""
    for provider in DEFAULTS.values():
        scorer = provider.scorer
        if scorer and settings.model and scorer.folder.resolve() == settings.model.resolve():
            return provider.text_kind
    return ""


def _kind_of_language_model() -> str:
    """Return the closed kind of the model of the generator's settings; empty for any other."""
    from scaar.generator.settings import GeneratorSettings

    settings = GeneratorSettings.read()
    if settings.prompt_profile is not None:
        return kind_of_profile(settings.prompt_profile)
    folder = language_model_folder(settings.model) if settings.engine == "onnx" else None
    advice = (folder or Path(settings.model or "")) / "scaar.json"
    if settings.engine not in ("onnx", "transformers") or not advice.is_file():
        return ""
    from scaar.encoders.checkpoint import read_json_file

    profile = read_json_file(advice).content.get("prompt_profile")
    return kind_of_profile(profile) if isinstance(profile, str) else ""


class MissingScorer:
    """A :class:`~scaar.core.ports.ContributionScorer` of an installation that has none.

    Policies without contributions answer; any use of it raises the error.
    """

    def __init__(self, error: CapabilityMissing) -> None:
        self.error = error

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        raise self.error

    async def describe_model(self) -> ScorerDescription:
        raise self.error
