"""How the lab's OpenAI-compatible server fails, or is odd, when it is told to."""

import enum

from scaar.testing.lab_servers.told_failures import ToldFailures


class Failure(enum.StrEnum):
    """What a generation is to suffer; those in mid-stream come after three tokens."""

    OVERLOAD = "overload"
    """It is refused with HTTP 429, and a ``Retry-After`` of two seconds."""
    UNAVAILABLE = "unavailable"
    """It is answered with HTTP 503 and a page, as a proxy does."""
    INTERNAL = "internal"
    """It is answered with HTTP 500."""
    GARBAGE = "garbage"
    """It is answered with HTTP 200 and a page."""
    SLOW = "slow"
    """Every token takes a second more, unless the server was told how long."""
    TRUNCATED = "truncated"
    """The stream ends in the middle, as if it were whole."""
    RESET = "reset"
    """The connection is cut in the middle."""
    ERROR_EVENT = "error-event"
    """The generation fails in the middle, and an event says so."""
    GARBLED_EVENT = "garbled-event"
    """An event in the middle is no JSON."""
    UNKNOWN_FINISH = "unknown-finish"
    """The generation ends for a reason that no client knows."""
    NO_LOGPROBS = "no-logprobs"
    """No token comes with a log-probability, asked for or not."""
    REFUSED_LOGPROBS = "refused-logprobs"
    """To ask for log-probabilities is refused with HTTP 400, as some chat models do."""
    MISSING_LOGPROBS = "missing-logprobs"
    """Every second log-probability is the number that stands for none."""
    SPLIT_CHARACTERS = "split-characters"
    """Every token comes in two: the first half of a character, then the text."""
    MANY_TOKENS = "many-tokens"
    """A chunk has three tokens."""
    EMPTY_CHUNKS = "empty-chunks"
    """A chunk without text and tokens comes before each."""
    LATE_TEXT = "late-text"
    """The text of a token comes with the chunk after its own."""
    BARE_TOKENS = "bare-tokens"
    """Tokens are told without the space that they begin with."""
    NO_USAGE = "no-usage"
    """What was read and written is not told."""
    REPEATS = "repeats"
    """A chat that is asked to go on begins with all that was written before."""


class Failures(ToldFailures[Failure]):
    """What is still to fail."""

    kinds = Failure
