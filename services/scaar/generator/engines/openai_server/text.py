"""Alignment of streamed tokens with the streamed text."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from scaar.generator.engines.served.text import ServedToken


class TokenAligner:
    """Assigns the text that a server sends to the tokens that it reports.

    The text is authoritative. A server may hold text back until a character is complete, report a
    token otherwise than in its context (without its space, as U+FFFD, escaped), or report tokens
    without text, such as the end-of-sequence token. Where tokens and text disagree, the text up to
    the next token that agrees is assigned to the last token before it.
    """

    def __init__(self) -> None:
        self._tokens = deque[ServedToken]()
        self._text = ""
        self._empty: list[ServedToken] = []

    def feed(self, tokens: Iterable[ServedToken], text: str) -> list[ServedToken]:
        """Return the tokens whose text is final, in order; the last of them has text."""
        self._tokens.extend(tokens)
        self._text += text
        if self._text and not self._tokens and not self._empty:
            self._tokens.append(ServedToken(0, self._text))
        return self._released(self._aligned())

    def flush(self, *, ended: bool) -> list[ServedToken]:
        """Return the remaining tokens. Tokens without text are dropped if the text ``ended``.

        A text that was cut off may end within a character, whose tokens are returned.
        """
        aligned = self._aligned()
        if self._tokens:
            aligned += self._share(len(self._tokens), len(self._text))
        released = self._released(aligned)
        if self._text and self._empty:
            last = self._empty.pop()
            released += [*self._empty, replace(last, text=self._text)]
            self._empty, self._text = [], ""
        if not ended:
            released += self._empty
        self._empty = []
        return released

    def _aligned(self) -> list[ServedToken]:
        aligned = list[ServedToken]()
        while self._tokens:
            own = _own(self._tokens[0].text, self._text)
            if own is not None:
                aligned += self._share(1, own)
            elif not self._text or _begins(self._tokens[0].text, self._text):
                break
            else:
                aligned += self._share(*self._next_agreeing())
        if not self._tokens and self._text and (self._empty or aligned):
            # Text without a token belongs to the last token.
            last = aligned.pop() if aligned else self._empty.pop()
            aligned.append(replace(last, text=last.text + self._text))
            self._text = ""
        return aligned

    def _next_agreeing(self) -> tuple[int, int]:
        """Return the number of tokens before the next one that agrees, and its position."""
        for count, token in enumerate(self._tokens):
            at = self._text.find(token.text) if count and token.text else -1
            if at > 0:
                return count, at
        return len(self._tokens), len(self._text)

    def _share(self, count: int, length: int) -> list[ServedToken]:
        """Remove tokens and text, and assign the text to the last of the tokens."""
        taken = [self._tokens.popleft() for _ in range(count)]
        text, self._text = self._text[:length], self._text[length:]
        return [*(replace(token, text="") for token in taken[:-1]), replace(taken[-1], text=text)]

    def _released(self, aligned: list[ServedToken]) -> list[ServedToken]:
        known = [*self._empty, *aligned]
        wide = next((at for at in range(len(known), 0, -1) if known[at - 1].text), 0)
        self._empty = known[wide:]
        return known[:wide]


def _own(token: str, text: str) -> int | None:
    """Return how much of the text the token wrote, or None if they disagree.

    A token alone may lack the leading space that it has in its context.
    """
    if text.startswith(token):
        return len(token)
    bare, space = token.lstrip(), len(text) - len(text.lstrip())
    if bare and text.startswith(bare, space):
        return space + len(bare)
    return None


def _begins(token: str, text: str) -> bool:
    """Return whether the text may be a prefix of what the token wrote."""
    return token.startswith(text) or token.lstrip().startswith(text.lstrip())
