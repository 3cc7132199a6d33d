"""Which part of a streamed text each of its tokens wrote."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from scaar.generator.engines.served.text import ServedToken


class TextOfTokens:
    """Lays the tokens that a server tells of over the text that it sends.

    The text is the truth. A server may hold text back until a character is whole, write a token
    by itself otherwise than in its place (without its space, as U+FFFD, escaped), or tell of
    tokens that write nothing, such as the one that ends the text. Where the two do not agree, a
    token takes the text up to the next one that does, the last one before it all of it.
    """

    def __init__(self) -> None:
        self._tokens = deque[ServedToken]()
        self._text = ""
        self._empty: list[ServedToken] = []

    def feed(self, tokens: Iterable[ServedToken], text: str) -> list[ServedToken]:
        """The tokens whose text is now known, in order; the last one of them adds some."""
        self._tokens.extend(tokens)
        self._text += text
        if self._text and not self._tokens and not self._empty:
            self._tokens.append(ServedToken(0, self._text))
        return self._released(self._laid())

    def flush(self, *, ended: bool) -> list[ServedToken]:
        """What is left when the text is over; tokens without text are dropped if it ``ended``.

        A text that was cut off may have been so within a character, whose tokens are given.
        """
        laid = self._laid()
        if self._tokens:
            laid += self._share(len(self._tokens), len(self._text))
        released = self._released(laid)
        if self._text and self._empty:
            last = self._empty.pop()
            released += [*self._empty, replace(last, text=self._text)]
            self._empty, self._text = [], ""
        if not ended:
            released += self._empty
        self._empty = []
        return released

    def _laid(self) -> list[ServedToken]:
        laid = list[ServedToken]()
        while self._tokens:
            own = _own(self._tokens[0].text, self._text)
            if own is not None:
                laid += self._share(1, own)
            elif not self._text or _begins(self._tokens[0].text, self._text):
                break
            else:
                laid += self._share(*self._next_agreeing())
        if not self._tokens and self._text and (self._empty or laid):
            # Text that no token is left for belongs to the last one.
            last = laid.pop() if laid else self._empty.pop()
            laid.append(replace(last, text=last.text + self._text))
            self._text = ""
        return laid

    def _next_agreeing(self) -> tuple[int, int]:
        """How many tokens stand before the next one that agrees with the text, and where it is."""
        for count, token in enumerate(self._tokens):
            at = self._text.find(token.text) if count and token.text else -1
            if at > 0:
                return count, at
        return len(self._tokens), len(self._text)

    def _share(self, count: int, length: int) -> list[ServedToken]:
        """Takes tokens with that much text, all of it for the last of them."""
        taken = [self._tokens.popleft() for _ in range(count)]
        text, self._text = self._text[:length], self._text[length:]
        return [*(replace(token, text="") for token in taken[:-1]), replace(taken[-1], text=text)]

    def _released(self, laid: list[ServedToken]) -> list[ServedToken]:
        known = [*self._empty, *laid]
        wide = next((at for at in range(len(known), 0, -1) if known[at - 1].text), 0)
        self._empty = known[wide:]
        return known[:wide]


def _own(token: str, text: str) -> int | None:
    """How much of the text the token wrote, if it is as the token says.

    A token by itself may be written without the space that it begins with in its place.
    """
    if text.startswith(token):
        return len(token)
    bare, space = token.lstrip(), len(text) - len(text.lstrip())
    if bare and text.startswith(bare, space):
        return space + len(bare)
    return None


def _begins(token: str, text: str) -> bool:
    """Whether the text may be the beginning of what the token wrote."""
    return token.startswith(text) or token.lstrip().startswith(text.lstrip())
