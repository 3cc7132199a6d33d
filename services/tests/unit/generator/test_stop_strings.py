from hypothesis import given
from hypothesis import strategies as st

from scaar.core.types import Token
from scaar.generator.engines.stop_strings import StopStrings

PIECES = st.lists(st.text("ab", max_size=3), max_size=12)
STOPS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)


def tokens_of(pieces):
    start = 0
    for number, piece in enumerate(pieces):
        yield Token(number, piece, start, start + len(piece))
        start += len(piece)


def passed(pieces, stops):
    """What passes after each token, and at the end."""
    stop, steps = StopStrings(stops), []
    for token in tokens_of(pieces):
        steps.append(stop.feed(token, complete=True))
        if stop.met:
            return steps
    return [*steps, stop.flush("")]


def text_of(tokens):
    return "".join(token.text for token in tokens)


def cut(pieces, stops):
    """The text up to the first stop string to be completed by a token."""
    text = ""
    for piece in pieces:
        text += piece
        if found := [text.find(stop) for stop in stops if stop in text]:
            return text[: min(found)]
    return text


@given(PIECES, STOPS)
def test_the_text_ends_where_the_first_stop_string_begins(pieces, stops):
    tokens = [token for step in passed(pieces, stops) for token in step]
    assert text_of(tokens) == cut(pieces, stops)


@given(PIECES, STOPS)
def test_spans_are_those_of_the_text(pieces, stops):
    tokens = [token for step in passed(pieces, stops) for token in step]
    text = text_of(tokens)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert [token.id for token in tokens] == list(range(len(tokens)))


@given(PIECES, STOPS)
def test_only_what_may_begin_a_stop_string_is_held(pieces, stops):
    shown = text = ""
    for piece, step in zip(pieces, passed(pieces, stops), strict=False):
        if any(stop in text + piece for stop in stops):
            return
        text += piece
        shown += text_of(step)
        held = text[len(shown) :]
        # Tokens pass whole, so the first character held need not be the beginning itself.
        assert not held or any(
            stop.startswith(held[at:]) for stop in stops for at in range(len(held))
        )


def test_without_stop_strings_tokens_are_released_immediately():
    assert [len(step) for step in passed(["a", "", "bc"], [])] == [1, 1, 1, 0]


def test_a_token_that_holds_a_stop_string_is_cut_before_it():
    (token,) = passed(["ab\n\nc"], ["\n"])[0]
    assert (token.text, token.start, token.end) == ("ab", 0, 2)


def test_a_stop_string_at_the_start_leaves_no_text():
    assert passed(["\nab"], ["\n"]) == [[]]


def test_an_incomplete_character_is_held_until_it_is_complete():
    stop = StopStrings(["🙂!"])
    assert stop.feed(Token(1, "", 0, 0), complete=False) == []
    held = stop.feed(Token(2, "🙂", 0, 1), complete=True)
    assert held == []
    assert [token.id for token in stop.feed(Token(3, "?", 1, 2), complete=True)] == [1, 2, 3]


def test_remaining_text_goes_to_the_last_token():
    stop = StopStrings([])
    stop.feed(Token(1, "", 0, 0), complete=False)
    (token,) = stop.flush("�")
    assert (token.text, token.start, token.end) == ("�", 0, 1)
