"""From a server's tokens to the port's: spans, characters in parts, stop strings."""

from dataclasses import dataclass

from scaar.core.types import Token, TopToken
from scaar.generator.engines.stop_strings import StopStrings

ANY_VOCABULARY = 2**31 - 1
"""Ids are below it, where a server does not say how many tokens its model has."""


@dataclass(frozen=True, slots=True)
class ServedToken:
    """A token as a server gave it; ``text`` is empty while a character is incomplete."""

    id: int
    text: str
    logprob: float | None = None
    top: tuple[TopToken, ...] = ()


class ServedText:
    """The text of a generation as it grows; ``met`` says that a stop string ended it."""

    def __init__(self, stop: tuple[str, ...]) -> None:
        self._stop = StopStrings(stop)
        self.text = ""
        """All of it so far, what is held back included."""

    @property
    def met(self) -> bool:
        """A stop string was met: no token follows."""
        return self._stop.met

    def feed(self, token: ServedToken) -> list[Token]:
        """The tokens that are now known to be text."""
        start = len(self.text)
        self.text += token.text
        end = len(self.text)
        written = Token(token.id, token.text, start, end, token.logprob, None, token.top)
        return self._stop.feed(written, complete=bool(token.text))

    def flush(self, rest: str = "") -> list[Token]:
        """What was held back, at the end; ``rest`` is the text of a character that stayed in parts.

        A stop string may yet be in it.
        """
        self.text += rest
        return self._stop.flush(rest)
