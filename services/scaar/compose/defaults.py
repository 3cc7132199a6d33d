"""The models that a process uses where no setting names another one, from providers of defaults."""

from pathlib import Path
from typing import TYPE_CHECKING

from scaar.core.defaults import DEFAULTS
from scaar.core.errors import CapabilityMissing

if TYPE_CHECKING:
    from scaar.generator.settings import GeneratorSettings
    from scaar.scorer.settings import ScorerSettings


def language_model_folder(name: str | None) -> Path | None:
    """Return the folder of a provider's language model, by default of the first; None if none."""
    for provider in DEFAULTS.values():
        for known, folder in provider.language_models.items():
            if name in (None, known):
                return folder
    return None


def with_default_language_model(settings: "GeneratorSettings") -> "GeneratorSettings":
    """Return the settings with the folder of a provider's language model, if they select one.

    Raises:
        CapabilityMissing: no model is set, and no provider with a language model is installed.
    """
    if settings.engine != "onnx":
        return settings
    folder = language_model_folder(settings.model)
    if folder is not None:
        return settings.model_copy(update={"model": str(folder)})
    if settings.model is None:
        text = "a generator without SCAAR_GENERATOR_MODEL needs the lab's world and models"
        raise CapabilityMissing(f"{text}: install scaar-lab")
    return settings


def with_default_scorer(settings: "ScorerSettings") -> "ScorerSettings":
    """Return the settings with the folder of a provider's scorer, if they name no model.

    Raises:
        CapabilityMissing: no model is set, and no provider with a scorer is installed.
    """
    if settings.model is not None or settings.engine == "bi_encoder":
        return settings
    for provider in DEFAULTS.values():
        if provider.scorer is not None and provider.scorer.engine == "onnx":
            return settings.model_copy(update={"model": provider.scorer.folder})
    text = "a scorer without SCAAR_SCORER_MODEL needs the lab's world and models"
    raise CapabilityMissing(f"{text}: install scaar-lab")
