"""Attention by words, on a matrix worked out by hand.

The prompt is "Q: who?" in two tokens, the text " Ada was it." in four: " A", "da", " was", " it.".
"""

from dataclasses import replace

import pytest

from scaar.core.errors import ScaarError
from scaar.core.loop.attention import (
    attended_before,
    attended_from,
    of_last,
    own_text,
    received,
    received_by_tokens,
    scaled_to_mean_one,
    sound,
)
from scaar.core.text.words import split_words
from scaar.core.types import AttendedWord, Attention, AttentionKind, Token, Word

PIECES = ("Q:", " who?", " A", "da", " was", " it.")
TEXT = " Ada was it."


def tokens(pieces: tuple[str, ...]) -> tuple[Token, ...]:
    ends = [sum(map(len, pieces[: at + 1])) for at in range(len(pieces))]
    return tuple(
        Token(0, piece, end - len(piece), end) for piece, end in zip(pieces, ends, strict=True)
    )


ROWS = (
    (0.5, 0.25, 0.25),
    (0.25, 0.25, 0.25, 0.25),
    (0.1, 0.2, 0.3, 0.2, 0.2),
    (0.1, 0.1, 0.1, 0.4, 0.2, 0.1),
)
ATTENTION = Attention(tokens(PIECES), 2, ROWS)
WORDS = split_words(TEXT)


def test_a_word_receives_the_most_that_a_later_token_pays_to_each_of_its_tokens() -> None:
    # " A": max(.25, .3, .1) = .3; "da": max(.2, .4) = .4; " was": .2; " it.": nothing is later.
    assert received(WORDS, ATTENTION) == pytest.approx([3 * x / 0.9 for x in (0.7, 0.2, 0.0)])


def test_a_word_receives_what_its_tokens_receive_in_a_longer_draft() -> None:
    # The draft is "Yes. Ada was it. So", and its sentence the three words in the middle.
    pieces = ("Yes.", " A", "da", " was", " it.", " So")
    draft = tuple(replace(each, start=each.start - 4, end=each.end - 4) for each in tokens(pieces))
    attention = Attention(draft, 0, received=(0.9, 0.3, 0.4, 0.2, 0.1, 0.8))
    shares = received_by_tokens(WORDS, attention)
    assert shares == pytest.approx([3 * x / 1.0 for x in (0.7, 0.2, 0.1)])


def test_a_text_of_one_token_receives_nothing_and_weighs_one() -> None:
    alone = Attention(tokens(("Q:", " Ada")), 1, ((0.5, 0.5),))
    assert received(split_words(" Ada"), alone) == (1.0,)
    assert scaled_to_mean_one(()) == ()


def test_a_trigger_attends_to_the_words_of_question_and_answer_before_it() -> None:
    # "was" begins in " was", whose row is (.1, .2, .3, .2, .2).
    was = WORDS[1]
    found = attended_from(was, ATTENTION, question="who?", so_far=0)
    assert [word.text for word in found] == ["who?", "Ada"]
    assert [word.attention for word in found] == pytest.approx([0.2, 0.5])


def test_what_was_accepted_before_is_part_of_the_answer() -> None:
    later = of_last(ATTENTION, len(" it."))
    assert (later.prompt_tokens, later.weights) == (5, (ROWS[3],))
    it = Word("it.", 1, 4)
    found = attended_from(it, later, question="who?", so_far=len(" Ada was"))
    assert [word.text for word in found] == ["who?", "Ada", "was"]
    assert [word.attention for word in found] == pytest.approx([0.1, 0.5, 0.2])


def test_a_split_character_belongs_to_the_text_that_completes_it() -> None:
    # " é" takes two tokens, the first of which shows nothing yet.
    pieces = ("Q:", " Ada.", "", " é")
    rows = tuple((0.5,) * (at + 1) for at in range(1, 4))
    later = of_last(Attention(tokens(pieces), 1, rows), len(" é"))
    assert (later.prompt_tokens, own_text(later), len(later.weights)) == (2, " é", 2)


def test_a_token_that_begins_before_the_text_counts_from_where_the_text_begins() -> None:
    pieces = ("Q:", " Ada", '." He', " left.")
    rows = tuple((0.1,) * (at + 1) for at in range(1, 4))
    later = of_last(Attention(tokens(pieces), 1, rows), len(" He left."))
    assert (later.prompt_tokens, later.weights) == (2, rows[1:])
    assert [token.text for token in later.tokens] == ["Q:", ' Ada."', " He", " left."]
    assert all(token.end - token.start == len(token.text) for token in later.tokens)
    received_by = received(split_words(" He left."), later)
    assert received_by == pytest.approx((2.0, 0.0))


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[:3],
        (*ROWS[:3], ROWS[3][:-1]),
        (*ROWS[:3], (*ROWS[3], 0.0)),
        (*ROWS[:3], (0.1, 0.1, 0.1, 0.4, float("nan"), 0.1)),
        (*ROWS[:3], (0.1, 0.1, 0.1, 0.4, float("inf"), 0.1)),
        (),
    ],
)
def test_an_attention_that_does_not_fit_its_text_is_refused(
    rows: tuple[tuple[float, ...], ...],
) -> None:
    assert sound(ATTENTION) is ATTENTION
    with pytest.raises(ScaarError, match="the model returned an attention"):
        sound(Attention(ATTENTION.tokens, 2, rows))


@pytest.mark.parametrize("values", [(), (0.1,) * 3, (0.1,) * 5, (0.1, 0.1, float("nan"), 0.1)])
def test_what_tokens_receive_is_refused_if_it_does_not_fit_its_text(
    values: tuple[float, ...],
) -> None:
    kind = AttentionKind.MAX_THEN_MEAN
    with pytest.raises(ScaarError, match="the model returned an attention"):
        sound(Attention(ATTENTION.tokens, 2, received=values), kind)
    with pytest.raises(ScaarError, match="the model returned an attention"):
        sound(ATTENTION, kind)
    fits = Attention(ATTENTION.tokens, 2, received=(0.1,) * 4)
    assert sound(fits, kind) is fits


def test_a_question_that_is_not_verbatim_in_the_prompt_is_omitted() -> None:
    found = attended_from(WORDS[1], ATTENTION, question="where?", so_far=0)
    assert [word.text for word in found] == ["Ada"]


def test_the_authors_average_the_rows_before_the_words_hit() -> None:
    alone = Attention(
        tokens((" A", "da", " was", " it.")),
        0,
        ((1.0,), (0.5, 0.5), (0.6, 0.2, 0.2), (0.1, 0.2, 0.3, 0.4)),
    )
    # "was": the row of "da" over (" A", "da"): .5, .5. "it.": that of " was" over all three.
    found = attended_before(WORDS, [1, 2], alone)
    assert found == (AttendedWord("Ada", pytest.approx((1.0 + 0.8) / 2)),)
    only_it = attended_before(WORDS, [2], alone)
    assert [word.text for word in only_it] == ["Ada", "was"]
    assert [word.attention for word in only_it] == pytest.approx([0.8, 0.2])


def test_the_first_word_has_nothing_before_it() -> None:
    alone = Attention(tokens((" A", "da", " was")), 0, ((1.0,), (0.5, 0.5), (0.6, 0.2, 0.2)))
    found = attended_before(split_words(" Ada was"), [0], alone)
    # " A" has no row before it; "da" has that of " A", over nothing.
    assert found == (AttendedWord("was", 0.0),)


def test_the_token_that_begins_a_text_takes_its_part_of_what_the_authors_average() -> None:
    started = Attention(
        tokens(("", " A", "da", " was", " it.")),
        1,
        ((0.9, 0.1), (0.8, 0.1, 0.1), (0.5, 0.3, 0.1, 0.1), (0.6, 0.1, 0.1, 0.1, 0.1)),
    )
    # "it.": the row of " was" over all before: .5 for the beginning, then .3, .1, .1.
    found = attended_before(WORDS, [2], started)
    assert [word.text for word in found] == ["Ada", "was"]
    assert [word.attention for word in found] == pytest.approx([0.4, 0.1])
