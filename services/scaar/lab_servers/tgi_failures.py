"""Failures and peculiarities of the lab's TGI server."""

import enum

from scaar.lab_servers.injected_failures import InjectedFailures


class Failure(enum.StrEnum):
    """A failure of a generation. Failures within a stream occur after three tokens."""

    OVERLOAD = "overload"
    """The generation is rejected as overload."""
    UNAVAILABLE = "unavailable"
    """HTTP 503 with an HTML page, as from a proxy."""
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
    INCOMPLETE = "incomplete"
    """The generation ends early, with an ``incomplete_generation`` event."""
    GARBLED_EVENT = "garbled-event"
    """An event is not JSON."""
    UNKNOWN_FINISH = "unknown-finish"
    """The generation ends with an unknown finish reason."""
    DONE = "done"
    """``[DONE]`` follows the last event, as on other servers."""
    NULL_LOGPROBS = "null-logprobs"
    """No token has a log-probability."""
    SPLIT_CHARACTERS = "split-characters"
    """Every token is sent as two: one without text, then the text."""
    UNCOUNTED = "uncounted"
    """``/tokenize`` does not exist, as behind a proxy that forwards only generations."""
    MODEL_CHANGED = "model-changed"
    """From now on the server has another revision of its model."""


class Failures(InjectedFailures[Failure]):
    """The remaining failures of the server."""

    kinds = Failure
