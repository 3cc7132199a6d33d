"""A policy: what there is to choose, what a request asks for, and what was run."""

import enum
from dataclasses import dataclass

from scaar.core.types.queries import Formulation, QuerySettings, WordOrder


class Trigger(enum.StrEnum):
    """What makes a draft uncertain, so that it is retrieved for (:mod:`scaar.core.triggers`)."""

    FLARE = "flare"
    EXP_RAW = "exp_raw"
    SURPRISAL = "surprisal"
    ATTENTION = "attention"
    RIND = "rind"
    RIND_REFERENCE = "rind_reference"
    ETC = "etc"
    MEAN_ENTROPY = "mean_entropy"
    PERPLEXITY = "perplexity"


class Granularity(enum.StrEnum):
    """What is held against a threshold."""

    WORD = "word"
    TOKEN = "token"


class Truncation(enum.StrEnum):
    """From where a draft that is uncertain is written again (DRAGIN Eq. 6)."""

    SENTENCE = "sentence"
    """From its beginning, as DRAGIN's authors' code does and SCAAR compares it."""
    TOKEN = "token"
    """From the word that triggered, as DRAGIN prints it: what stands before is kept."""


class When(enum.StrEnum):
    """When a policy retrieves."""

    NEVER = "never"
    ONCE = "once"
    UNCERTAIN_DRAFT = "uncertain_draft"
    EVERY_SENTENCE = "every_sentence"
    EVERY_WINDOW = "every_window"


class Gate(enum.StrEnum):
    """What judges, once an answer, whether its question may be retrieved for at all."""

    GECE_PROXY = "gece_proxy"
    """A model learned from GECE's labels (:mod:`scaar.core.gates.proxy`); the project's own."""


class SettingSource(enum.StrEnum):
    """Where the value of a setting came from."""

    PAPER = "paper"
    MODEL = "model"
    REQUEST = "request"
    GATE = "gate"
    """The gate's file."""


@dataclass(frozen=True, slots=True)
class PolicyOverrides:
    """Settings that a request asks for in place of a policy's own; None leaves it as it is."""

    theta: float | None = None
    theta_cap: float | None = None
    trigger: Trigger | None = None
    granularity: Granularity | None = None
    spare_stop_words: bool | None = None
    truncate: Truncation | None = None
    query: Formulation | None = None
    alpha: float | None = None
    include_question: bool | None = None
    word_order: WordOrder | None = None
    last_n_tokens: int | None = None
    top_words: int | None = None
    top_k: int | None = None
    window_tokens: int | None = None
    max_passages: int | None = None
    gate: Gate | None = None
    gate_threshold: float | None = None


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """A policy by name, and what is to be different about it."""

    name: str = "scaar"
    overrides: PolicyOverrides = PolicyOverrides()


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A policy as it was run: every setting, and where the ones that vary came from.

    ``trigger`` is None where nothing is judged. ``spare_stop_words``: a stop word is never
    uncertain (DRAGIN Eq. 4, s_i). ``window_tokens`` is the length of a window, 0 where the policy
    goes by sentences; ``max_passages`` the most that accumulate over an answer, 0 where a
    retrieval's passages take the place of those before. With a ``gate`` only questions that it
    finds at least as likely of the long tail as ``gate_threshold`` are retrieved for.
    """

    name: str
    when: When
    theta: float
    theta_cap: float
    query: QuerySettings
    top_k: int
    trigger: Trigger | None = None
    granularity: Granularity = Granularity.WORD
    spare_stop_words: bool = False
    truncate: Truncation = Truncation.SENTENCE
    window_tokens: int = 0
    max_passages: int = 0
    sources: tuple[tuple[str, SettingSource], ...] = ()
    gate: Gate | None = None
    gate_threshold: float | None = None
