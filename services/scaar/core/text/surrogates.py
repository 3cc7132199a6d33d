"""Texts of models without unpaired surrogates, which no encoding of Unicode can carry."""

import re
from dataclasses import replace

from scaar.core.types import Token

_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def encodable(token: Token) -> Token:
    """Return the token with U+FFFD in place of every unpaired surrogate, in its text and beside it.

    A server that writes half of a character into JSON sends one.
    """
    texts = (token.text, *(top.text for top in token.top))
    if not any(map(_SURROGATE.search, texts)):
        return token
    tops = tuple(replace(top, text=_replaced(top.text)) for top in token.top)
    return replace(token, text=_replaced(token.text), top=tops)


def _replaced(text: str) -> str:
    return _SURROGATE.sub(_REPLACEMENT, text)
