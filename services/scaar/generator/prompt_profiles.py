"""The prompt profile of a model that no setting and no file names one for."""

from dataclasses import dataclass

from scaar.core.types import ModelKind
from scaar.generator.model_kind import FoundKind
from scaar.generator.settings import GeneratorSettings

DEFAULT_PROFILE = "scaar"
"""The profile of base models, which follow examples."""
INSTRUCT_PROFILE = "instruct"


@dataclass(frozen=True, slots=True)
class ChosenProfile:
    """The prompt profile of a model; ``reason`` says why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} ({self.reason})"


def choose_profile(
    settings: GeneratorSettings, kind: FoundKind, *, in_turns: bool
) -> ChosenProfile:
    """Return the profile of the settings, else the one for the kind of the model.

    ``in_turns`` is whether the prompt is a turn of a chat: only there are instructions followed.
    """
    if settings.prompt_profile is not None:
        return ChosenProfile(settings.prompt_profile, "SCAAR_GENERATOR_PROMPT_PROFILE")
    if kind.kind is ModelKind.BASE:
        return ChosenProfile(DEFAULT_PROFILE, "for base models")
    if in_turns:
        return ChosenProfile(INSTRUCT_PROFILE, "for instruct models")
    return ChosenProfile(DEFAULT_PROFILE, "for models without a chat template")
