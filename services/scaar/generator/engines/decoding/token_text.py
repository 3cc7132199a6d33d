"""Incremental decoding of token ids to text."""

from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_CONTEXT = 6
"""Tokens before the new ones that are decoded with them: some tokenizers write a token
differently at the start of a text, and a character takes up to four tokens."""


class TokenText:
    """Incremental decoder that returns the text that each token adds.

    A token within a character adds nothing; the token that completes the character adds it.
    Invalid bytes become U+FFFD, as the tokenizer decodes them, with the next token that ends in a
    whole character. Special tokens add nothing.
    """

    def __init__(self, tokenizer: Tokenizer, context: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._settled = list(context[-_CONTEXT:])
        self._before = len(self._decode(self._settled))
        self._open: list[int] = []

    @property
    def complete(self) -> bool:
        """True unless a character is incomplete."""
        return not self._open

    def feed(self, token: int) -> str:
        """Return the text that the token adds; empty while a character is incomplete."""
        self._open.append(token)
        text = self._decode([*self._settled, *self._open])
        if text.endswith(_REPLACEMENT):
            return ""
        return self._settle(text)

    def feed_all(self, tokens: Sequence[int]) -> str:
        """Return the text that several tokens add."""
        text = self._decode([*self._settled, *self._open, *tokens])
        if text.endswith(_REPLACEMENT):
            return "".join(map(self.feed, tokens))
        self._open += tokens
        return self._settle(text)

    def gives(self, text: str, tokens: Sequence[int]) -> bool:
        """Feed the tokens and return whether they add exactly the text."""
        given = self.feed_all(tokens)
        return given == text or given + self.flush() == text

    def flush(self) -> str:
        """Return the text of an incomplete character at the end of the tokens."""
        return self._settle(self._decode([*self._settled, *self._open]))

    def preview(self, token: int) -> str:
        """Return the text that an alternative token would add, complete or not."""
        return self._decode([*self._settled, *self._open, token])[self._before :]

    def _settle(self, text: str) -> str:
        added = text[self._before :]
        self._settled = [*self._settled, *self._open][-_CONTEXT:]
        self._before = len(self._decode(self._settled))
        self._open = []
        return added

    def _decode(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))


def texts_of(tokenizer: Tokenizer, tokens: Sequence[int]) -> list[str]:
    """Return the text that each token of a whole text adds, including an incomplete end."""

    def decode(ids: Iterable[int]) -> str:
        return str(tokenizer.decode(list(ids), skip_special_tokens=True))

    alone = {token: decode([token]) for token in set(tokens)}
    texts, whole = [alone[token] for token in tokens], decode(tokens)
    # Most texts are the concatenation of their tokens, which is several times faster to check.
    if _REPLACEMENT not in whole and "".join(texts) == whole:
        return texts
    following = TokenText(tokenizer)
    texts = [following.feed(token) for token in tokens]
    if texts:
        texts[-1] += following.flush()
    return texts
