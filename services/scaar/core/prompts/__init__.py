"""Prompt profiles: versioned layouts of prompts, and their table."""

from collections.abc import Mapping
from types import MappingProxyType

from scaar.core.errors import InvalidRequest
from scaar.core.prompts.dragin import DRAGIN
from scaar.core.prompts.lab import LAB
from scaar.core.prompts.profile import PromptProfile
from scaar.core.prompts.scaar import SCAAR

__all__ = ["PROFILES", "PromptProfile", "profile_of"]

PROFILES: Mapping[str, PromptProfile] = MappingProxyType(
    {profile.name: profile for profile in (LAB, SCAAR, DRAGIN)}
)


def profile_of(name: str) -> PromptProfile:
    """The profile of that name, or of that name and version (``lab`` or ``lab@1``).

    Raises:
        InvalidRequest: there is no such profile, or not in that version; names the known ones.
    """
    for profile in PROFILES.values():
        if name in (profile.name, profile.label):
            return profile
    known = ", ".join(profile.label for profile in PROFILES.values())
    raise InvalidRequest.of("prompt_profile", f"there is no profile {name!r}; known: {known}")
