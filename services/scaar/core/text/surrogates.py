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
    texts = (token.text, *(each.text for each in token.top))
    if not any(map(_SURROGATE.search, texts)):
        return token
    top = tuple(replace(each, text=_replaced(each.text)) for each in token.top)
    return replace(token, text=_replaced(token.text), top=top)


def _replaced(text: str) -> str:
    return _SURROGATE.sub(_REPLACEMENT, text)
