"""What crosses the port of a generator."""

import enum
from dataclasses import dataclass


class Capability(enum.StrEnum):
    """What an engine can give beside text."""

    LOGPROBS = "logprobs"
    ENTROPY = "entropy"
    ATTENTION = "attention"
    RESUME_BY_IDS = "resume_by_ids"
    """The engine can go on from token ids, so that text is never tokenised twice."""


class LogprobKind(enum.StrEnum):
    """Whether log-probabilities are those of the model's own distribution."""

    RAW = "raw"
    PROCESSED = "processed"
    UNKNOWN = "unknown"


class ContinuationKind(enum.StrEnum):
    """How a model goes on from the prefix of a request."""

    NATIVE = "native"
    """From its very text: what follows is what the model would have written."""
    RESTATED = "restated"
    """The prefix is shown to the model, which is asked to go on; what it repeats is cut. What
    follows is its best effort."""


class FinishReason(enum.StrEnum):
    """Why a generation ended."""

    END_OF_SEQUENCE = "end_of_sequence"
    LENGTH = "length"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class TopToken:
    """One of the likeliest tokens at a position."""

    id: int
    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token and the span of generated text that it covers.

    ``id`` is 0 from an engine that gives no ids. ``logprob`` is None where the engine gave none
    (null, NaN, -inf); ``entropy`` is of the next-token distribution over the full vocabulary, None
    where the engine gives none. A token of zero width is part of a character that a later token
    completes.
    """

    id: int
    text: str
    start: int
    end: int
    logprob: float | None = None
    entropy: float | None = None
    top: tuple[TopToken, ...] = ()
    attention: tuple[float, ...] = ()
    """The last layer's attention with which it was predicted, averaged over heads: what the token
    before it pays to every token up to and with itself. Empty where none was asked for."""


@dataclass(frozen=True, slots=True)
class GenerationStart:
    """The prompt has been read.

    Comes first, from engines that count it, so that a generation that is closed before its end
    can be billed all the same.
    """

    prompt_tokens: int
    tokens: tuple[Token, ...] = ()
    """The tokens read, prompt and prefix, where attention was asked for; their spans count from the
    start of the prompt."""


@dataclass(frozen=True, slots=True)
class GenerationEnd:
    """The end of a generation: why, and what it cost."""

    finish_reason: FinishReason
    prompt_tokens: int
    generated_tokens: int
    attention: tuple[float, ...] = ()
    """The attention with which the end was predicted, as :attr:`Token.attention`; empty where none
    was asked for, and where the model did not end the text itself."""


GenerationEvent = GenerationStart | Token | GenerationEnd


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """Text to be continued, greedily.

    ``prefix`` is what has been written after ``prompt`` so far; ``prefix_token_ids`` are its
    tokens where they are known and cover it exactly, for engines that resume by ids. Spans of
    the generated tokens count from the end of ``prefix``. A stop string ends the generation and
    is not part of the text.
    """

    prompt: str
    prefix: str = ""
    prefix_token_ids: tuple[int, ...] = ()
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    top_tokens: int = 0
    attention: bool = False
    """Whether every token is to come with the attention with which it was predicted."""


@dataclass(frozen=True, slots=True)
class AttendRequest:
    """A text whose last-layer attention is wanted: ``prompt`` then ``text``.

    ``text_token_ids`` are the text's tokens, where they are known and cover it exactly. Given
    without a prompt, they are read alone, not even after what begins a text.
    """

    prompt: str
    text: str
    text_token_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Attention:
    """Last-layer attention, averaged over heads.

    ``tokens`` are those of prompt and text (the first ``prompt_tokens`` are the prompt's; their
    spans count from the start of the prompt). ``weights[i][j]`` is the attention paid by token
    ``prompt_tokens + i`` to token j; a row has as many weights as tokens up to and with its own.
    """

    tokens: tuple[Token, ...]
    prompt_tokens: int
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class RecommendedSettings:
    """What a model's keeper found to suit it, for one policy; None where the paper's value does."""

    policy: str
    theta: float | None = None
    alpha: float | None = None
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """Which language model answers, and what it can give."""

    model: str
    revision: str
    engine: str
    logprob_kind: LogprobKind
    capabilities: frozenset[Capability]
    max_total_tokens: int
    prompt_profile: str
    """The prompt profile that suits the model; a request may name another."""
    recommended: tuple[RecommendedSettings, ...] = ()
    continuation: ContinuationKind = ContinuationKind.NATIVE
    max_concurrent_generations: int | None = None
    """Generations that one replica works on at a time; None where it is not known."""
