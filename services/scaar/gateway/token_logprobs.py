"""Log-probabilities of the text, in the forms of OpenAI's interface."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from scaar.core.text.words import NO_LOGPROB
from scaar.core.types import AcceptedToken


class TokenQueue:
    """The tokens of text that the client does not have yet."""

    def __init__(self) -> None:
        self._tokens = deque[AcceptedToken]()

    def extend(self, tokens: Iterable[AcceptedToken], *, skipped: int) -> None:
        """Append the tokens of a sentence without its first ``skipped`` characters."""
        for each in tokens:
            cut = min(skipped, len(each.text))
            skipped -= cut
            if not cut or cut < len(each.text):
                self._tokens.append(AcceptedToken(each.text[cut:], each.logprob))

    def whole(self, length: int) -> int:
        """Return the length of the tokens that end within ``length`` characters.

        That is ``length`` if there are no tokens.
        """
        if not self._tokens:
            return length
        end = 0
        for each in self._tokens:
            if end + len(each.text) > length:
                break
            end += len(each.text)
        return end

    def take(self, length: int) -> list[AcceptedToken]:
        """Remove and return the tokens of the next ``length`` characters; the last may be cut."""
        taken = list[AcceptedToken]()
        while self._tokens and length >= len(self._tokens[0].text):
            taken.append(self._tokens.popleft())
            length -= len(taken[-1].text)
        if self._tokens and length:
            cut = self._tokens.popleft()
            taken.append(AcceptedToken(cut.text[:length], cut.logprob))
        return taken


def token_entries(tokens: Sequence[AcceptedToken]) -> list[dict[str, Any]]:
    """Return the tokens as OpenAI's interface has them, without alternatives.

    Text without a log-probability has -9999, the interface's value for very unlikely tokens.
    """
    return [
        {
            "token": each.text,
            "logprob": NO_LOGPROB if each.logprob is None else each.logprob,
            "bytes": list(each.text.encode()),
            "top_logprobs": [],
        }
        for each in tokens
    ]
