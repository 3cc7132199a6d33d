"""How the lab's OpenAI-compatible server fails, or is odd, when it is told to."""

import enum
from collections.abc import Iterable

from scaar.core.errors import InvalidRequest


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


class Failures:
    """What is still to fail: each kind for so many generations, or for all."""

    def __init__(self, told: Iterable[str] = ()) -> None:
        """Each is ``KIND``, for all, or ``KIND=TIMES``.

        Raises:
            InvalidRequest: naming what is no kind, or no number of times.
        """
        self._left: dict[Failure, int | None] = {}
        for each in told:
            kind, _, times = each.partition("=")
            if kind not in list(Failure):
                known = ", ".join(Failure)
                raise InvalidRequest.of("--fail", f"there is no {kind!r}; known: {known}")
            if times and not (times.isdecimal() and int(times)):
                raise InvalidRequest.of("--fail", f"must be {kind}=TIMES from 1, not {each!r}")
            self.tell(Failure(kind), int(times) if times else None)

    def tell(self, kind: Failure, times: int | None = None) -> None:
        """The next generations are to fail so; all of them where ``times`` is None."""
        self._left[kind] = times

    def clear(self) -> None:
        """Nothing fails any more."""
        self._left.clear()

    def of_generation(self) -> frozenset[Failure]:
        """What the generation that begins now is to suffer."""
        suffered = frozenset(self._left)
        for kind in suffered:
            times = self._left[kind]
            if times is not None:
                self._left[kind] = times - 1
                if times == 1:
                    del self._left[kind]
        return suffered
