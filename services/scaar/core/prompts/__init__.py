"""Prompt profiles: versioned layouts of prompts, their few-shot examples, and their table."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from scaar.core.errors import InvalidRequest
from scaar.core.prompts.dragin import DRAGIN
from scaar.core.prompts.exemplars import EXEMPLARS
from scaar.core.prompts.exemplars.exemplar_set import ExemplarSet
from scaar.core.prompts.instruct import INSTRUCT
from scaar.core.prompts.lab import LAB, LAB_CHAT, LAB_SEARCH
from scaar.core.prompts.plain import PLAIN
from scaar.core.prompts.profile import PromptProfile
from scaar.core.prompts.scaar import SCAAR, SCAAR_1
from scaar.core.prompts.self_rag import SELF_RAG

__all__ = ["PROFILES", "PromptProfile", "profile_of"]

PROFILES: Mapping[str, PromptProfile] = MappingProxyType(
    {
        profile.label: profile
        for profile in (
            LAB,
            LAB_CHAT,
            LAB_SEARCH,
            SCAAR,
            SCAAR_1,
            INSTRUCT,
            DRAGIN,
            SELF_RAG,
            PLAIN,
        )
    }
)
"""The layouts by ``NAME@VERSION``, the newest version of each name first."""


@cache
def profile_of(name: str) -> PromptProfile:
    """Return the profile of that name: ``LAYOUT[@VERSION][:EXAMPLES[@VERSION]]``.

    A name without a version is the newest one. ``dragin`` and ``dragin@1`` are a layout with the
    general examples, ``dragin:strategyqa`` and ``dragin@1:strategyqa@1`` the same layout with
    others.

    Raises:
        InvalidRequest: the layout or the set of examples is unknown, or unknown in that version,
            or the layout shows no examples. The message lists the known ones.
    """
    layout_name, colon, examples_name = name.partition(":")
    profile = _layout_of(layout_name, name)
    if not colon:
        return profile
    examples = _examples_of(examples_name, name)
    if profile.exemplars is None:
        text = f"the layout {profile.name} shows no examples, so there is no {name!r}"
        raise InvalidRequest.of("prompt_profile", text)
    return profile if examples is profile.exemplars else replace(profile, exemplars=examples)


def _layout_of(layout_name: str, name: str) -> PromptProfile:
    for profile in PROFILES.values():
        if layout_name in (profile.name, profile.label):
            return profile
    known = ", ".join(PROFILES)
    raise InvalidRequest.of("prompt_profile", f"there is no profile {name!r}; known: {known}")


def _examples_of(examples_name: str, name: str) -> ExemplarSet:
    for examples in EXEMPLARS.values():
        if examples_name in (examples.name, examples.label):
            return examples
    known = ", ".join(examples.label for examples in EXEMPLARS.values())
    text = f"there is no profile {name!r}: the known sets of examples are {known}"
    raise InvalidRequest.of("prompt_profile", text)
