import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.words import split_tokens, split_words, word_probabilities
from scaar.core.types import Token, Word


def tokens_of(*pieces: tuple[str, float | None]) -> tuple[Token, ...]:
    tokens: list[Token] = []
    start = 0
    for text, logprob in pieces:
        tokens.append(Token(len(tokens), text, start, start + len(text), logprob))
        start += len(text)
    return tuple(tokens)


def probabilities_of(*pieces: tuple[str, float | None]) -> tuple[float | None, ...]:
    text = "".join(piece for piece, _ in pieces)
    return word_probabilities(split_words(text), tokens_of(*pieces))


def algorithm_2(tokens: Sequence[Token], words: Sequence[Word]) -> list[list[float]]:
    """SCAAR Algorithm 2 in its sound form: the log-probabilities of each word's tokens."""
    groups: list[list[float]] = []
    buffer: list[Token] = []
    i1 = i2 = 0
    while i2 < len(tokens) and i1 < len(words):
        buffer.append(tokens[i2])
        i2 += 1
        if "".join(token.text for token in buffer).strip() == words[i1].text:
            groups.append([token.logprob or 0.0 for token in buffer])
            buffer = []
            i1 += 1
    groups[-1].extend(token.logprob or 0.0 for token in (*buffer, *tokens[i2:]))
    return groups


@st.composite
def texts_in_tokens(draw: st.DrawFn) -> tuple[Token, ...]:
    """Words cut into tokens that each lie in one word, white space leading, some of no width."""
    pieces: list[tuple[str, float]] = []
    logprob = st.floats(-20.0, 0.0)
    for word in draw(st.lists(st.text("abéд.,", min_size=1, max_size=6), min_size=1)):
        cuts = sorted(draw(st.sets(st.integers(1, len(word)))) | {0, len(word)})
        space = draw(st.sampled_from([" ", "  ", "\n", "\u3000"])) if pieces else ""
        for start, end in pairwise(cuts):
            if draw(st.booleans()):
                pieces.append(("", draw(logprob)))
            pieces.append((space + word[start:end], draw(logprob)))
            space = ""
    if draw(st.booleans()):
        pieces.append(("", draw(logprob)))
    return tokens_of(*pieces)


@given(texts_in_tokens())
def test_words_have_the_tokens_of_algorithm_2(tokens: tuple[Token, ...]) -> None:
    words = split_words("".join(token.text for token in tokens))
    expected = [math.exp(math.fsum(g) / len(g)) for g in algorithm_2(tokens, words)]
    assert word_probabilities(words, tokens) == pytest.approx(expected)


@given(st.text())
def test_words_have_their_spans_and_every_character_that_is_no_space(text: str) -> None:
    words = split_words(text)
    assert "".join(word.text for word in words) == "".join(text.split())
    assert all(word.text.split() == [word.text] for word in words)
    assert all(text[word.start : word.end] == word.text for word in words)


@given(st.text(st.characters(max_codepoint=0x2E7F)))
def test_words_of_scripts_with_spaces_are_those_of_str_split(text: str) -> None:
    assert [word.text for word in split_words(text)] == text.split()


def test_the_probability_of_a_word_is_the_geometric_mean_of_its_tokens() -> None:
    (probability,) = probabilities_of(("dir", math.log(0.9)), ("ector.", math.log(0.4)))
    assert probability == pytest.approx(math.sqrt(0.36))


def test_a_token_over_two_words_counts_in_both() -> None:
    assert probabilities_of(("New Yo", math.log(0.25)), ("rk", 0.0)) == pytest.approx((0.25, 0.5))


def test_a_token_of_white_space_counts_in_no_word() -> None:
    assert probabilities_of(("a", 0.0), (" ", -5.0), ("b", 0.0)) == (1.0, 1.0)


def test_a_token_of_no_width_belongs_to_the_next_that_has_some() -> None:
    pieces = (("a", 0.0), ("", math.log(0.25)), (" é", 0.0))
    assert probabilities_of(*pieces) == pytest.approx((1.0, 0.5))


def test_a_last_token_of_no_width_belongs_to_the_last_word() -> None:
    assert probabilities_of(("a", 0.0), (" b", 0.0), ("", math.log(0.25))) == pytest.approx(
        (1.0, 0.5)
    )


@pytest.mark.parametrize("missing", [None, math.nan, -math.inf, -9999.0, -10_000.0])
def test_one_missing_logprob_makes_its_word_unknown_and_no_other(missing: float | None) -> None:
    assert probabilities_of(("a", 0.0), ("b", missing), (" c", 0.0)) == (None, 1.0)


def test_a_word_without_tokens_is_unknown() -> None:
    assert word_probabilities(split_words("one two"), tokens_of(("one", 0.0))) == (1.0, None)
    assert word_probabilities(split_words("one"), tokens_of(("", -1.0))) == (None,)


def test_a_logprob_a_hair_above_zero_is_certainty() -> None:
    assert probabilities_of(("a", 1e-7)) == (1.0,)


def test_a_probability_may_be_too_small_for_a_float_and_is_then_zero() -> None:
    assert probabilities_of(("a", -9000.0)) == (0.0,)


def test_a_token_as_a_word_has_no_more_than_the_text_has_of_it() -> None:
    tokens = tokens_of((" New Yo", 0.0), ("", 0.0), ("rk", 0.0), (" ", 0.0), (".She", 0.0))
    found = split_tokens(" New York .", tokens)
    assert found == (Word("New Yo", 1, 7), Word("rk", 7, 9), Word(".", 10, 11))
