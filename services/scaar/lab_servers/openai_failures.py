"""Failures and peculiarities of the lab's OpenAI-compatible server."""

import enum

from scaar.lab_servers.injected_failures import InjectedFailures


class Failure(enum.StrEnum):
    """A failure of a generation. Failures within a stream occur after three tokens."""

    OVERLOAD = "overload"
    """HTTP 429 with a ``Retry-After`` of two seconds."""
    UNAVAILABLE = "unavailable"
    """HTTP 503 with an HTML page, as from a proxy."""
    INTERNAL = "internal"
    """HTTP 500."""
    GARBAGE = "garbage"
    """HTTP 200 with an HTML page."""
    SLOW = "slow"
    """Every token is delayed, by one second unless configured otherwise."""
    TRUNCATED = "truncated"
    """The stream ends early, without an error."""
    RESET = "reset"
    """The connection is reset during the stream."""
    ERROR_EVENT = "error-event"
    """The generation fails during the stream, with an error event."""
    GARBLED_EVENT = "garbled-event"
    """An event is not JSON."""
    UNKNOWN_FINISH = "unknown-finish"
    """The generation ends with an unknown finish reason."""
    NO_LOGPROBS = "no-logprobs"
    """No token has a log-probability, even if requested."""
    REFUSED_LOGPROBS = "refused-logprobs"
    """Requests for log-probabilities are rejected with HTTP 400, as by some chat models."""
    REFUSED_SYSTEM = "refused-system"
    """Turns of the system are rejected with HTTP 400, as by the chat templates of some models."""
    MISSING_LOGPROBS = "missing-logprobs"
    """Every second log-probability is the number that represents -inf."""
    SPLIT_CHARACTERS = "split-characters"
    """Every token is sent as two: half a character, then the text."""
    MANY_TOKENS = "many-tokens"
    """A chunk has three tokens."""
    EMPTY_CHUNKS = "empty-chunks"
    """An empty chunk precedes each chunk."""
    LATE_TEXT = "late-text"
    """The text of a token is sent with the next chunk."""
    BARE_TOKENS = "bare-tokens"
    """Tokens are reported without their leading space."""
    NO_USAGE = "no-usage"
    """Usage is not reported."""
    THINKS = "thinks"
    """The model thinks before its answer, unless the request switches that off. Thoughts are sent
    as by the dialect: in ``reasoning`` (vllm, generic) or ``reasoning_content`` (sglang,
    llama_cpp), or counted only (openai)."""
    THINKS_ALWAYS = "thinks-always"
    """As ``thinks``, whatever the request says."""
    THINK_TAGS = "think-tags"
    """The model always thinks, between ``<think>`` and ``</think>`` in its text."""
    REPEATS = "repeats"
    """A chat that is instructed to continue repeats the whole previous text first."""


class Failures(InjectedFailures[Failure]):
    """The remaining failures of the server."""

    kinds = Failure
