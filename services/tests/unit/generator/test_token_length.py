"""The bound on characters: a text over it has more tokens than the context."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from scaar.encoders.tokenizer import token_ids
from scaar.generator.engines.decoding.token_length import (
    ASSUMED_CHARACTERS,
    characters_per_token,
)
from scaar.lab.vocabulary import build_tokenizer

TEXTS = st.text(max_size=200) | st.text(" \nGaet\u0301\u0308\u03b9가ᄀ", max_size=200)


def byte_level(*, normalizer=None, dropped=()):
    """Every byte, and words of spaces and of letters."""
    alphabet = [each for each in sorted(pre_tokenizers.ByteLevel.alphabet()) if each not in dropped]
    words = ["ĠĠ", "ĠĠĠĠ", "ge", "Ã©", "Î¹Î¹"]
    tokens = {token: place for place, token in enumerate([*alphabet, *words])}
    merges = [("Ġ", "Ġ"), ("ĠĠ", "ĠĠ"), ("g", "e"), ("Ã", "©")]
    merges = [pair for pair in merges if "".join(pair) in tokens and set(pair) <= tokens.keys()]
    made = Tokenizer(models.BPE(vocab=tokens, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    if normalizer is not None:
        made.normalizer = normalizer
    return made


def byte_fallback():
    """As models of the Llama 2 family: words with their space, other characters by their bytes."""
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "▁a", "é"]
    vocabulary = {token: place for place, token in enumerate(tokens)}
    made = Tokenizer(
        models.BPE(vocabulary, [("▁", "a")], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return made


EXACT = {
    "lab": (build_tokenizer(), max(map(len, build_tokenizer().get_vocab()))),
    "byte level": (byte_level(), 4),
    "composing": (byte_level(normalizer=normalizers.NFC()), 16),
    "byte fallback": (byte_fallback(), 6),
}


@pytest.mark.parametrize(("tokenizer", "expected"), EXACT.values(), ids=EXACT)
@given(text=TEXTS)
def test_no_text_has_fewer_tokens_than_its_characters_allow(tokenizer, expected, text):
    limit = characters_per_token(tokenizer)
    assert limit == expected
    assert len(token_ids(tokenizer, text, add_special_tokens=False)) * limit >= len(text)


def test_no_character_is_composed_of_more_than_is_reckoned_with():
    everything = map(chr, range(sys.maxunicode + 1))
    assert max(len(unicodedata.normalize("NFD", each)) for each in everything) == 4


def dropping(**changes):
    made = byte_level()
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def stripping():
    made = byte_level()
    made.add_tokens([AddedToken("</turn>", rstrip=True)])
    return made


@pytest.mark.parametrize(
    "tokenizer",
    [
        pytest.param(byte_level(dropped="a"), id="a byte is missing"),
        pytest.param(Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1})), id="unknown words"),
        pytest.param(dropping(normalizer=normalizers.Strip()), id="stripped"),
        pytest.param(
            dropping(normalizer=normalizers.Replace(Regex(" {2,}"), " ")), id="spaces collapse"
        ),
        pytest.param(
            dropping(
                pre_tokenizer=pre_tokenizers.Sequence(
                    [pre_tokenizers.Split(" ", "removed"), pre_tokenizers.ByteLevel()]
                )
            ),
            id="spaces removed",
        ),
        pytest.param(stripping(), id="a token with the spaces after it"),
    ],
)
def test_a_tokenizer_that_may_drop_text_has_the_documented_limit(tokenizer):
    assert characters_per_token(tokenizer) == ASSUMED_CHARACTERS
