"""Policies: their choices, the overrides of a request, and the effective settings."""

import enum
from dataclasses import dataclass, fields

from scaar.core.types.queries import QuerySettings, WordOrder


class Granularity(enum.StrEnum):
    """Unit that is compared with a threshold."""

    WORD = "word"
    TOKEN = "token"


class Truncation(enum.StrEnum):
    """Start of the part of an uncertain draft that is regenerated (DRAGIN Eq. 6)."""

    SENTENCE = "sentence"
    """The start of the sentence, as in the code of DRAGIN's authors and in SCAAR's comparison."""
    TOKEN = "token"
    """The triggering word, as printed in DRAGIN; the text before the word is kept."""


class Moment(enum.StrEnum):
    """Moment of an answer at which a policy can retrieve."""

    BEFORE_ANSWER = "before_answer"
    """Once, before the first sentence."""
    BEFORE_SENTENCE = "before_sentence"
    """Before every sentence except the concluding one."""
    BEFORE_WINDOW = "before_window"
    """Before every window of tokens except those of the concluding sentence."""
    UNCERTAIN_DRAFT = "uncertain_draft"
    """For every draft that the trigger finds uncertain."""


class SettingSource(enum.StrEnum):
    """Source of the value of a setting."""

    PAPER = "paper"
    """The method's paper, or its authors' code."""
    DEFAULT = "default"
    """The project's own choice, where no paper states a value."""
    MODEL = "model"
    """The model's recommendation."""
    REQUEST = "request"
    GATE = "gate"
    """The gate's file."""


@dataclass(frozen=True, slots=True)
class PolicyOverrides:
    """Settings of a request that override those of its policy; None keeps the policy's value."""

    theta: float | None = None
    theta_cap: float | None = None
    trigger: str | None = None
    granularity: Granularity | None = None
    spare_stop_words: bool | None = None
    truncate: Truncation | None = None
    query: str | None = None
    alpha: float | None = None
    include_question: bool | None = None
    word_order: WordOrder | None = None
    last_n_tokens: int | None = None
    top_words: int | None = None
    top_k: int | None = None
    window_tokens: int | None = None
    max_passages: int | None = None
    gate: str | None = None
    gate_threshold: float | None = None

    def given(self) -> dict[str, float | int | bool | str]:
        """Return the settings that the request overrides, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """A policy by name, with overrides of its settings."""

    name: str = "scaar"
    overrides: PolicyOverrides = PolicyOverrides()


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A policy as it runs: every setting, and the source of each adjustable one.

    It retrieves at its ``moments``, never without one. ``trigger`` is None if the policy judges no
    drafts. With ``spare_stop_words``, a stop word is
    never uncertain (DRAGIN Eq. 4, s_i). ``window_tokens`` is the length of a window in tokens, 0 if
    the policy works on sentences. ``max_passages`` is the maximum number of passages accumulated
    over an answer, 0 if the passages of a retrieval replace the earlier ones. With a ``gate``, the
    policy retrieves only for questions whose long-tail probability is at least ``gate_threshold``.
    """

    name: str
    moments: tuple[Moment, ...]
    theta: float
    theta_cap: float
    query: QuerySettings
    top_k: int
    trigger: str | None = None
    granularity: Granularity = Granularity.WORD
    spare_stop_words: bool = False
    truncate: Truncation = Truncation.SENTENCE
    window_tokens: int = 0
    max_passages: int = 0
    sources: tuple[tuple[str, SettingSource], ...] = ()
    gate: str | None = None
    gate_threshold: float | None = None
