"""Maximum number of characters of a token."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

ASSUMED_CHARACTERS = 256
"""Characters per token of a tokenizer without an exact maximum."""

_COMPOSED_CHARACTERS = 4
"""The longest sequence of characters that Unicode normalisation composes to one."""
_COMPOSING = frozenset({"NFC", "NFD", "NFKC", "NFKD"})
_KEEPING_NORMALIZERS = _COMPOSING | {"ByteLevel", "Lowercase", "Prepend", "Sequence"}
_KEEPING_SPLITTERS = frozenset(
    {"ByteLevel", "Digits", "Metaspace", "Punctuation", "Sequence", "Split"}
)
_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))
_SPACE = "▁"
_SPACES_AS_BYTES = "ĠĊĉč"
"""Space, line feed, tab and carriage return in the alphabet of byte-level tokenizers."""

_Part = Mapping[str, Any]


def characters_per_token(tokenizer: Tokenizer) -> int:
    """Return the largest number of characters that one token can stand for.

    A text of more than ``n`` times as many characters has more than ``n`` tokens. That is exact for
    byte-pair encodings that read every byte, as causal models have: the longest token of the
    vocabulary decides. Other tokenizers may drop characters, or read any unknown word as one token;
    for them the number is at least :data:`ASSUMED_CHARACTERS`, a documented limit.
    """
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    normalizers = list(_parts(tokenizer.normalizer, "normalizers"))
    splitters = list(_parts(tokenizer.pre_tokenizer, "pretokenizers"))
    byte_level = any(part["type"] == "ByteLevel" for part in (*normalizers, *splitters))
    composing = any(part["type"] in _COMPOSING for part in normalizers)
    longest = _longest(vocabulary, composing=composing, byte_level=byte_level)
    exact = (
        _reads_every_byte(tokenizer, vocabulary, byte_level=byte_level)
        and all(_keeps_in_normalizing(part) for part in normalizers)
        and all(_keeps_in_splitting(part) for part in splitters)
        # Added tokens may absorb adjacent white space. Special tokens are not read in texts.
        and not any(
            token.lstrip or token.rstrip
            for token in tokenizer.get_added_tokens_decoder().values()
            if not token.special
        )
    )
    return longest if exact else max(longest, ASSUMED_CHARACTERS)


def _parts(component: Any, within: str) -> Iterator[_Part]:
    """Yield a normalizer or pre-tokenizer, and those of a sequence, as in ``tokenizer.json``."""
    if component is None:
        return
    waiting = [json.loads(component.__getstate__())]
    while waiting:
        part = waiting.pop()
        waiting += part.get(within, ())
        yield part


def _longest(vocabulary: Iterable[str], *, composing: bool, byte_level: bool) -> int:
    """Return the number of characters that the longest token can come from."""
    if not composing:
        return max(map(len, vocabulary), default=1)
    spaces = str.maketrans("", "", _SPACE + (_SPACES_AS_BYTES if byte_level else ""))
    return max(
        (
            len(token) * (1 if token.translate(spaces).isascii() else _COMPOSED_CHARACTERS)
            for token in vocabulary
        ),
        default=1,
    )


def _reads_every_byte(
    tokenizer: Tokenizer, vocabulary: Mapping[str, int], *, byte_level: bool
) -> bool:
    """Return whether every character is known. Unknown ones may be dropped or share a token."""
    model = tokenizer.model
    if not isinstance(model, BPE):
        return False
    if byte_level:
        return vocabulary.keys() >= set(ByteLevel.alphabet())
    return bool(model.byte_fallback) and vocabulary.keys() >= _BYTES


def _keeps_in_normalizing(part: _Part) -> bool:
    """Return whether the normalizer shortens texts only by composing characters."""
    if part["type"] == "Replace":
        replaced = part["pattern"].get("String")
        return replaced is not None and len(replaced) <= len(part["content"])
    return part["type"] in _KEEPING_NORMALIZERS


def _keeps_in_splitting(part: _Part) -> bool:
    return part["type"] in _KEEPING_SPLITTERS and part.get("behavior") != "Removed"
