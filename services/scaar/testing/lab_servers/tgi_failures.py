"""How the lab's TGI server fails when it is told to."""

import enum
from collections.abc import Iterable

from scaar.core.errors import InvalidRequest


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

    def __contains__(self, kind: object) -> bool:
        """Whether the next generation is to fail so."""
        return kind in self._left

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
