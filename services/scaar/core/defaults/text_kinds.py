"""Kinds of text: which model, scorer and index belong together.

The kind of the lab is closed: its models write about its world only, and its scorer was trained on
their sentences. A model is known by its digest, or by its prompt profile, and a scorer by its
description. An index that is named like the kind, or with a number (``lab``, ``lab-2001``), is of
this kind, and an index of documents is of none; what any other index has is unknown. Any other
model writes texts of an open kind, for which every scorer will do that is not of a closed one.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from scaar.core.defaults import DEFAULTS, DefaultsProvider
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.prompts import PROFILES, profile_of
from scaar.core.types import (
    DOCUMENT_FIELDS,
    IndexDescription,
    ModelDescription,
    ScorerDescription,
)

_OF_KIND = re.compile(r"([a-z][a-z0-9_]*)(?:-[0-9]+)?")
_OTHER_POLICY = "or choose a policy without contributions, such as flare"
_OTHER_SCORER = "set SCAAR_SCORER_MODEL to a scorer for the model's texts"
_ENGLISH = "install scaar-english"


def is_closed(kind: str) -> bool:
    """Return whether only models of this kind write its texts; False for an unknown kind."""
    provider = DEFAULTS.get(kind)
    closed = provider is not None and bool(provider.language_models)
    return closed or (
        kind != "" and any(profile.text_kind == kind for profile in PROFILES.values())
    )


def kind_of_profile(name: str) -> str:
    """Return the closed kind of a prompt profile; empty for any other one, or for no profile."""
    try:
        return profile_of(name).text_kind
    except InvalidRequest:
        return ""


def kind_of_revision(revision: str) -> str:
    """Return the kind of the provider that has a model of this revision; empty for none."""
    providers = (provider for provider in DEFAULTS.values() if provider.has_model(revision))
    return next((provider.text_kind for provider in providers), "")


def kind_of_model(model: ModelDescription) -> str:
    """Return the closed kind of a language model; empty for any other model."""
    return kind_of_profile(model.prompt_profile) or kind_of_revision(model.revision)


def kind_of_index(index: IndexDescription) -> str:
    """Return the closed kind of an index, by its name; empty for any other index."""
    return kind_of_name(index.name)


def kind_of_name(name: str) -> str:
    """Return the closed kind of the index or data set of this name; empty for any other one."""
    named = _OF_KIND.fullmatch(name)
    return named[1] if named and is_closed(named[1]) else ""


def is_of_documents(index: IndexDescription) -> bool:
    """Return whether the index was built from files of documents, which have no closed kind."""
    return set(DOCUMENT_FIELDS) <= set(index.metadata_fields)


def default_scorer(kind: str) -> DefaultsProvider:
    """Return the provider whose scorer fits models of a closed kind, or of none.

    Raises:
        CapabilityMissing: none is installed; the error says what to install or set.
    """
    for provider in DEFAULTS.values():
        if provider.scorer is not None and _fits(provider, kind):
            return provider
    advice = f"{_ENGLISH}, {_OTHER_SCORER}, {_OTHER_POLICY}"
    raise CapabilityMissing(f"contributions need a scorer, and none is set: {advice}")


def default_encoder(kind: str) -> Path | None:
    """Return the folder of the sentence encoder for texts of a closed kind, or of none.

    None if no provider with such an encoder is installed.
    """
    for provider in DEFAULTS.values():
        if provider.encoder is not None and _fits(provider, kind):
            return provider.encoder
    return None


def encoder_advice(kind: str, setting: str) -> str:
    """Return what to do if there is no default encoder for texts of a closed kind, or of none."""
    named = f"set {setting} to an encoder's folder"
    return named if kind else f"{_ENGLISH}, or {named}"


def _fits(provider: DefaultsProvider, kind: str) -> bool:
    """Return whether the models of a provider are for texts of a closed kind, or of none."""
    return provider.text_kind == kind if kind else not is_closed(provider.text_kind)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A scorer that does not fit model or index."""

    problem: str
    """What does not fit, as a sentence."""
    advice: str
    """What to set."""

    def __str__(self) -> str:
        return f"{self.problem}: {self.advice}"


def scorer_mismatch(
    model: ModelDescription, scorer: ScorerDescription, index: IndexDescription | None = None
) -> Mismatch | None:
    """Return how the scorer does not fit the model or the index; None if it fits."""
    kind, of_model = scorer.text_kind, kind_of_model(model)
    scores = f"scorer {scorer.model} is for texts of the kind {kind}"
    written = f"model {model.model} on engine {model.engine}"
    if not kind:
        return None
    if is_closed(kind) and of_model != kind:
        profile = f"set SCAAR_GENERATOR_PROMPT_PROFILE={kind} if the model is of this kind"
        english = f"{_ENGLISH} and set only SCAAR_SCORER_TEXT_KIND=english of the scorer"
        advice = f"{profile}; else {english}, {_OTHER_SCORER}, {_OTHER_POLICY}"
        return Mismatch(f"{scores}, and {written} is not of this kind", advice)
    if of_model and of_model != kind:
        advice = f"unset SCAAR_SCORER_ENGINE and SCAAR_SCORER_MODEL, {_OTHER_POLICY}"
        return Mismatch(f"{scores}, and {written} writes texts of the kind {of_model}", advice)
    return None if index is None else _index_mismatch(scores, kind, index)


def _index_mismatch(scores: str, kind: str, index: IndexDescription) -> Mismatch | None:
    of_index = kind_of_index(index)
    if is_closed(kind) and is_of_documents(index):
        advice = "set SCAAR_GENERATOR_ENGINE and SCAAR_GENERATOR_MODEL to a model of your own"
        problem = f"{scores}, and index {index.name} is of documents"
        return Mismatch(problem, f"{advice}, {_OTHER_POLICY}")
    if of_index and of_index != kind:
        problem = f"{scores}, and index {index.name} has texts of the kind {of_index}"
        return Mismatch(problem, f"name an index of your own texts (--index), {_OTHER_POLICY}")
    return None
