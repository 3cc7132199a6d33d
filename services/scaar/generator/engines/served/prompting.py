"""How the model of a server is prompted, and why: its API, its chat template, its profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from scaar.core.types import ModelKind
from scaar.generator.engines.served.prompt_text import PromptText
from scaar.generator.model_kind import FoundKind
from scaar.generator.prompt_profiles import DEFAULT_PROFILE, ChosenProfile, choose_profile
from scaar.generator.settings import GeneratorSettings

Api = Literal["completions", "chat"]


@dataclass(frozen=True, slots=True)
class Prompting:
    """The API that is called, the texts around a prompt, and the prompt profile.

    ``api_reason`` and ``template`` say why, and where the texts are from.
    """

    kind: FoundKind
    api: Api
    api_reason: str
    text: PromptText
    template: str
    profile: ChosenProfile

    @property
    def chats(self) -> bool:
        """Whether the chat API is called."""
        return self.api == "chat"

    def report(self) -> Mapping[str, str]:
        """Return what was chosen and why, by name."""
        return {
            "kind": str(self.kind),
            "API": f"{self.api} ({self.api_reason})",
            "chat template": self.template,
            "prompt profile": str(self.profile),
        }


UNCHOSEN = Prompting(
    FoundKind(ModelKind.BASE, "not known yet"),
    "completions",
    "not known yet",
    PromptText(),
    "none",
    ChosenProfile(DEFAULT_PROFILE, "not known yet"),
)
"""The prompting of a model before it is chosen."""


def prompting(
    settings: GeneratorSettings,
    kind: FoundKind,
    *,
    api: Api,
    api_reason: str,
    text: PromptText | None = None,
    template: str,
) -> Prompting:
    """Return the prompting with the profile that follows from the rest."""
    in_turns = api == "chat" or text is not None
    profile = choose_profile(settings, kind, in_turns=in_turns)
    return Prompting(kind, api, api_reason, text or PromptText(), template, profile)


def without_template(kind: FoundKind, why: str) -> str:
    """Return the description of completions without a template.

    A model that was trained on turns is then not prompted as it was trained.
    """
    if kind.kind is ModelKind.BASE:
        return "none (a base model continues texts)"
    return f"missing ({why}): set SCAAR_GENERATOR_CHAT_TEMPLATE_FILE"
