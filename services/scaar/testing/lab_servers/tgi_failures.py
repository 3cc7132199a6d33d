"""How the lab's TGI server fails when it is told to."""

import enum

from scaar.testing.lab_servers.told_failures import ToldFailures


class Failure(enum.StrEnum):
    """What a generation is to suffer; those in mid-stream come after three tokens."""

    OVERLOAD = "overload"
    """It is refused for want of room."""
    UNAVAILABLE = "unavailable"
    """It is answered with HTTP 503 and a page, as a proxy does."""
    GARBAGE = "garbage"
    """It is answered with HTTP 200 and a page."""
    SLOW = "slow"
    """Every token takes a second more."""
    TRUNCATED = "truncated"
    """The stream ends in the middle, as if it were whole."""
    RESET = "reset"
    """The connection is cut in the middle."""
    ERROR_EVENT = "error-event"
    """The generation fails in the middle, and an event says so."""
    INCOMPLETE = "incomplete"
    """The generation ends in the middle, and an event says so."""
    GARBLED_EVENT = "garbled-event"
    """An event in the middle is no JSON."""
    UNKNOWN_FINISH = "unknown-finish"
    """The generation ends for a reason that no client knows."""
    DONE = "done"
    """``[DONE]`` follows the last event, as from other servers."""
    NULL_LOGPROBS = "null-logprobs"
    """No token has a log-probability."""
    SPLIT_CHARACTERS = "split-characters"
    """Every second token is the first half of the next one's text, and has none of its own."""
    UNCOUNTED = "uncounted"
    """There is no ``/tokenize``, as behind a proxy that lets generations through only."""
    MODEL_CHANGED = "model-changed"
    """From then on the server has another revision of its model."""


class Failures(ToldFailures[Failure]):
    """What is still to fail."""

    kinds = Failure
