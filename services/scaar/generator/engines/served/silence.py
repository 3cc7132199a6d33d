"""Limits on the silence of a model server, which follow the speed at which it reads."""

from collections import deque
from dataclasses import dataclass

BETWEEN_TOKENS_S = 30.0
"""Maximum time between two tokens, in seconds."""
LEAST_FIRST_S = 120.0
"""Least limit on the time before the first token, in seconds."""
_ASSUMED_SPEED = 30.0
"""Characters that a server reads per second until its speed is known, about 10 tokens."""
_LEAST_CHARACTERS = 256
"""Shorter prompts say nothing about the speed."""
_CALLS = 8
"""Number of recent calls of which the slowest counts."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Maximum times without an event of a stream, in seconds; None is no limit.

    ``first_s`` applies before the first event, ``reading_s`` while the server reports that it reads
    the prompt, and ``between_s`` after the first token.
    """

    first_s: float
    reading_s: float | None
    between_s: float


class ReadingSpeed:
    """The speed at which a server reads prompts, as recent calls show it."""

    def __init__(self, fixed_s: float | None = None) -> None:
        """``fixed_s`` is the limit of every silence; None derives the limits from the speed."""
        self._fixed_s = fixed_s
        self._speeds = deque[float](maxlen=_CALLS)

    def observe(self, characters: float, seconds: float) -> None:
        """Note that the first token came after ``seconds``, in which ``characters`` were read."""
        if characters >= _LEAST_CHARACTERS and seconds > 0:
            self._speeds.append(characters / seconds)

    def expected_s(self, characters: float) -> float | None:
        """Return the time that reading should take, in seconds; None if no call showed it."""
        return characters / min(self._speeds) if self._speeds else None

    def limits(self, characters: int) -> Silence:
        """Return the limits of a call with so long a prompt.

        The first token may take twice the time that reading the prompt should take.
        """
        if self._fixed_s is not None:
            return Silence(self._fixed_s, self._fixed_s, self._fixed_s)
        expected = self.expected_s(characters)
        if expected is None:
            expected = characters / _ASSUMED_SPEED
        return Silence(max(LEAST_FIRST_S, 2 * expected), None, BETWEEN_TOKENS_S)
