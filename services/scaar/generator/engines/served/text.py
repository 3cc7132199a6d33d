"""Conversion of a server's tokens to the port's: spans, split characters, stop strings."""

from dataclasses import dataclass

from scaar.core.types import Token, TopToken
from scaar.generator.engines.stop_strings import StopStrings

ANY_VOCABULARY = 2**31 - 1
"""Upper bound of token ids, if the server does not report the size of the vocabulary."""


@dataclass(frozen=True, slots=True)
class ServedToken:
    """A token of a server; ``text`` is empty while a character is incomplete."""

    id: int
    text: str
    logprob: float | None = None
    top: tuple[TopToken, ...] = ()


class ServedText:
    """The text of a generation as it grows."""

    def __init__(self, stop: tuple[str, ...]) -> None:
        self._stop = StopStrings(stop)
        self.text = ""
        """The text so far, including tokens that are held back."""

    @property
    def met(self) -> bool:
        """True once a stop string has ended the text."""
        return self._stop.met

    def feed(self, token: ServedToken) -> list[Token]:
        """Return the tokens whose text is final."""
        start = len(self.text)
        self.text += token.text
        end = len(self.text)
        written = Token(token.id, token.text, start, end, token.logprob, None, token.top)
        return self._stop.feed(written, complete=bool(token.text))

    def flush(self, rest: str = "") -> list[Token]:
        """Return the tokens held back at the end, which may contain a stop string.

        ``rest`` is the text of a character that stayed incomplete.
        """
        self.text += rest
        return self._stop.flush(rest)
