"""Values of the port of a generator."""

import enum
from dataclasses import dataclass, field


class Capability(enum.StrEnum):
    """What an engine returns besides text."""

    LOGPROBS = "logprobs"
    ENTROPY = "entropy"
    ATTENTION = "attention"
    RESUME_BY_IDS = "resume_by_ids"
    """The engine continues from token ids, so that text is never tokenised twice."""
    SAMPLING = "sampling"
    SEED = "seed"
    """The same request with the same seed gives the same tokens."""
    NAMED_TOKENS = "named_tokens"
    TEXT_LOGPROBS = "text_logprobs"
    HIDDEN_STATES = "hidden_states"
    SYSTEM_TURN = "system_turn"
    """The engine places text of the system in a turn of its own before the prompt."""
    ANSWER_SLOTS = "answer_slots"
    """The engine leases a slot to an answer, which keeps what the calls of the answer have read."""


class LogprobKind(enum.StrEnum):
    """Whether log-probabilities are those of the model's own distribution."""

    RAW = "raw"
    PROCESSED = "processed"
    UNKNOWN = "unknown"


class ContinuationKind(enum.StrEnum):
    """How a model continues the prefix of a request."""

    NATIVE = "native"
    """The model continues the exact text."""
    RESTATED = "restated"
    """The model reads the prefix and is instructed to continue it; repeated text is cut. The
    continuation is a best effort."""


class ModelKind(enum.StrEnum):
    """What a model was trained for."""

    BASE = "base"
    """The model continues texts."""
    INSTRUCT = "instruct"
    """The model follows instructions, in the turns of a chat template."""


class AttentionKind(enum.StrEnum):
    """How attention is reduced over heads and tokens."""

    MEAN_HEADS = "mean_heads"
    """The mean over heads, one row for each token that attends."""
    MAX_THEN_MEAN = "max_then_mean"
    """The attention that each token receives: in each head the maximum over the tokens that attend
    to it, then the mean over heads (the code of DRAGIN's authors)."""


class FinishReason(enum.StrEnum):
    """Why a generation ended."""

    END_OF_SEQUENCE = "end_of_sequence"
    LENGTH = "length"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class TopToken:
    """One of the most probable tokens at a position, or a named one."""

    id: int
    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token and the span of generated text that it covers.

    ``id`` is 0 from an engine without ids. ``logprob`` is None if the engine returned none (null,
    NaN, -inf). ``entropy`` is the entropy of the next-token distribution over the full vocabulary,
    None from an engine without entropies. Both are independent of the temperature. A token of zero
    width is part of a character that a later token completes.
    """

    id: int
    text: str
    start: int
    end: int
    logprob: float | None = None
    entropy: float | None = None
    top: tuple[TopToken, ...] = ()
    attention: tuple[float, ...] = ()
    """Last-layer attention with which the token was predicted, averaged over heads: the attention
    that the previous token pays to every token up to and including itself. Empty if not
    requested."""
    named: tuple[TopToken, ...] = ()
    """The tokens that the request names, in its order."""
    hidden_state: tuple[float, ...] = ()
    """State of the previous token at the requested layer, with which the token was predicted."""
    sample: int = 0
    """Number of the sample, from 0."""


@dataclass(frozen=True, slots=True)
class GenerationProgress:
    """The prompt is being read, and that takes a while.

    Comes before any other event, from engines that know. ``read_tokens`` of the ``prompt_tokens``
    have been read or were cached.
    """

    prompt_tokens: int
    read_tokens: int


@dataclass(frozen=True, slots=True)
class GenerationStart:
    """The prompt has been read.

    Comes first, from engines that count it, so that a generation that is closed before its end
    still has known usage.
    """

    prompt_tokens: int
    tokens: tuple[Token, ...] = ()
    """The tokens of prompt and prefix, if attention was requested; spans are offsets into the
    prompt and the prefix."""
    evaluated_tokens: int | None = field(default=None, compare=False)
    """How many prompt tokens the model read; the others were cached. None if unknown. Generations
    are equal whatever was cached."""


@dataclass(frozen=True, slots=True)
class GenerationEnd:
    """The end of a generation: its reason and its usage.

    ``prompt_tokens`` is 0 if the model's server reports no usage. ``thinking_tokens`` were
    generated before the text and belong to none of its tokens; ``generated_tokens`` excludes them.
    """

    finish_reason: FinishReason
    prompt_tokens: int
    generated_tokens: int
    attention: tuple[float, ...] = ()
    """Attention with which the end was predicted, as :attr:`Token.attention`. Empty if not
    requested, or if the model did not end the text itself."""
    thinking_tokens: int = 0
    hidden_state: tuple[float, ...] = ()
    """State with which the end was predicted, as :attr:`Token.hidden_state`."""
    sample: int = 0
    """Number of the sample, from 0."""
    evaluated_tokens: int | None = field(default=None, compare=False)
    """As :attr:`GenerationStart.evaluated_tokens`."""


GenerationEvent = GenerationStart | Token | GenerationEnd | GenerationProgress


def is_last(event: GenerationEvent, request: "GenerateRequest") -> bool:
    """Return whether the event is the end of the request's last sample."""
    return isinstance(event, GenerationEnd) and event.sample == request.n - 1


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """A text to continue, greedily unless ``temperature`` is above 0.

    ``prefix`` is the text after ``prompt`` so far. ``prefix_token_ids`` are its tokens if they are
    known and cover the prefix exactly, for engines that resume by ids. Spans of the generated
    tokens are offsets from the end of ``prefix``. A stop string ends the generation and is not part
    of the text.
    """

    prompt: str
    prefix: str = ""
    prefix_token_ids: tuple[int, ...] = ()
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    top_tokens: int = 0
    attention: bool = False
    """Whether every token has the attention with which it was predicted."""
    temperature: float = 0.0
    """Temperature of the distribution over the whole vocabulary from which tokens are sampled."""
    seed: int | None = None
    """Seed of the samples; None for other samples with every request."""
    n: int = 1
    """Number of samples. Sample i equals the only sample of a request with ``seed + i``."""
    named_tokens: tuple[str, ...] = ()
    """Tokens whose log-probability every token has."""
    hidden_layer: int | None = None
    """Layer whose hidden state every token has; 0 for the embeddings."""
    system: str = ""
    """Text of the system, in a turn of its own before the prompt; empty for no such turn."""
    answer_id: str = ""
    """Id of the answer that the call belongs to, for engines that lease slots; empty for none."""


@dataclass(frozen=True, slots=True)
class AttendRequest:
    """A request for the last-layer attention of ``prompt`` followed by ``text``.

    ``text_token_ids`` are the tokens of the text if they are known and cover the text exactly.
    Without a prompt, the model reads these tokens alone, without the token that begins a text.
    If the text has ``ended``, the end-of-sequence token follows it and attends to it as well; only
    for ``MAX_THEN_MEAN``.
    """

    prompt: str
    text: str
    text_token_ids: tuple[int, ...] = ()
    attention: AttentionKind = AttentionKind.MEAN_HEADS
    ended: bool = False
    system: str = ""


@dataclass(frozen=True, slots=True)
class Attention:
    """Last-layer attention, reduced as the request states.

    ``tokens`` are the tokens of prompt and text, the first ``prompt_tokens`` those of the prompt;
    their spans are offsets from the start of the prompt. ``weights[i][j]`` is the attention that
    token ``prompt_tokens + i`` pays to token j, averaged over heads; a row has one weight for each
    token up to and including its own. ``received[i]`` is the attention that token
    ``prompt_tokens + i`` receives. One of the two is empty (:class:`AttentionKind`).
    """

    tokens: tuple[Token, ...]
    prompt_tokens: int
    weights: tuple[tuple[float, ...], ...] = ()
    received: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class LogprobsRequest:
    """A request for the log-probabilities of ``text`` after ``prompt``.

    ``text_token_ids`` are the tokens of the text if they are known and cover the text exactly.
    """

    prompt: str
    text: str
    text_token_ids: tuple[int, ...] = ()
    top_tokens: int = 0
    named_tokens: tuple[str, ...] = ()
    system: str = ""


@dataclass(frozen=True, slots=True)
class TextLogprobs:
    """The tokens of a text with their log-probabilities.

    Spans are offsets from the start of the text. The first token of the model's context has no
    log-probability.
    """

    tokens: tuple[Token, ...]
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class RecommendedSettings:
    """Recommended settings of a model for one policy; None keeps the default of the policy.

    ``theta`` is for the policy's trigger, so another policy with that trigger takes it too.
    """

    policy: str
    theta: float | None = None
    alpha: float | None = None
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A language model and its capabilities."""

    model: str
    revision: str
    engine: str
    logprob_kind: LogprobKind
    capabilities: frozenset[Capability]
    max_total_tokens: int
    prompt_profile: str
    """Default prompt profile of the model."""
    recommended: tuple[RecommendedSettings, ...] = ()
    continuation: ContinuationKind = ContinuationKind.NATIVE
    max_concurrent_generations: int | None = None
    """Maximum number of concurrent generations of one replica; None if unknown."""
    hidden_layers: int | None = None
    """Highest layer whose hidden states can be requested; None if the engine gives none."""
    kind: ModelKind | None = None
    """What the model was trained for; None if the engine does not know."""
