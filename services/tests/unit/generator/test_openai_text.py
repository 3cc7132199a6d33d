"""Tokens are aligned with the text that a server sends, in every format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.openai_server.text import TokenAligner
from scaar.generator.engines.served.text import ServedToken

PARTIAL = "\N{REPLACEMENT CHARACTER}"


def tokens(*texts: str) -> list[ServedToken]:
    return [ServedToken(number, text, -number / 10) for number, text in enumerate(texts)]


def laid(*chunks: tuple[list[ServedToken], str], ended: bool = True) -> list[tuple[int, str]]:
    text = TokenAligner()
    found = [each for reported, written in chunks for each in text.feed(reported, written)]
    return [(each.id, each.text) for each in (*found, *text.flush(ended=ended))]


def test_tokens_that_equal_the_text_are_unchanged() -> None:
    text = TokenAligner()
    one, two = tokens(" Ada", " was")
    assert text.feed([one], " Ada") == [one]
    assert text.feed([two], " was") == [two]
    assert text.flush(ended=True) == []


def test_a_chunk_may_have_any_number_of_tokens() -> None:
    a, b, c = tokens(" Ada", " was", " born")
    assert laid(([], ""), ([a, b], " Ada was"), ([], ""), ([c], " born")) == [
        (0, " Ada"),
        (1, " was"),
        (2, " born"),
    ]


@pytest.mark.parametrize("shown", [PARTIAL, "\\xf0\\x9f", "<0xF0>", "bytes:\\xf0"])
def test_a_character_of_several_tokens_is_the_last_ones(shown: str) -> None:
    a, b, c, d = tokens(" born", shown, shown, " in")
    chunks = ([a], " born"), ([b], ""), ([c], "🙂"), ([d], " in")
    assert laid(*chunks) == [(0, " born"), (1, ""), (2, "🙂"), (3, " in")]
    assert laid(([a, b, c, d], " born🙂 in")) == [(0, " born"), (1, ""), (2, "🙂"), (3, " in")]


def test_late_text_is_assigned_to_its_tokens() -> None:
    a, b, c = tokens(" caf", PARTIAL, PARTIAL)
    assert laid(([a, b], " "), ([c], "café")) == [(0, " caf"), (1, ""), (2, "é")]


def test_a_token_reported_without_its_space_gets_it() -> None:
    a, b = tokens("Ada", "was")
    assert laid(([a], " Ada"), ([b], " was")) == [(0, " Ada"), (1, " was")]


def test_the_end_of_sequence_token_is_not_returned() -> None:
    a, end = tokens(" London.", "</s>")
    assert laid(([a], " London."), ([end], "")) == [(0, " London.")]
    assert laid(([a, end], " London.")) == [(0, " London.")]


def test_the_tokens_of_an_incomplete_character_have_no_text() -> None:
    a, b = tokens(" caf", PARTIAL)
    assert laid(([a], " caf"), ([b], ""), ended=False) == [(0, " caf"), (1, "")]
    assert laid(([a], " caf"), ([b], ""), ([], PARTIAL), ended=False)[-1] == (1, PARTIAL)


def test_text_without_tokens_is_one_token_without_a_log_probability() -> None:
    text = TokenAligner()
    assert text.feed([], " Ada was") == [ServedToken(0, " Ada was")]


@pytest.mark.slow
@given(
    text=st.text(max_size=40),
    cuts=st.lists(st.integers(1, 4), min_size=1, max_size=30),
    lag=st.integers(0, 3),
    data=st.data(),
)
def test_text_and_tokens_are_complete_for_any_chunking(
    text: str, cuts: list[int], lag: int, data: st.DataObject
) -> None:
    """Bytes cut into tokens and chunks anywhere; a character is sent when it is complete."""
    whole, reported, at = text.encode(), list[tuple[ServedToken, str]](), 0
    while at < len(whole):
        size = cuts[len(reported) % len(cuts)]
        before = whole[:at].decode(errors="ignore")
        after = whole[: at + size].decode(errors="ignore")
        shown = whole[at : at + size].decode(errors="replace")
        reported.append((ServedToken(len(reported), shown, -1.0), after[len(before) :]))
        at += size
    laying, found, number = TokenAligner(), list[ServedToken](), 0
    late: list[str] = []
    while number < len(reported):
        count = data.draw(st.integers(0, 4))
        chunk, number = reported[number : number + count], number + count
        late += [written for _, written in chunk]
        ready = max(0, len(late) - lag)
        found += laying.feed([token for token, _ in chunk], "".join(late[:ready]))
        late = late[ready:]
    found += laying.feed([], "".join(late))
    found += laying.flush(ended=False)
    assert "".join(each.text for each in found) == text
    numbers = [each.id for each in found if each.logprob is not None]
    assert numbers == sorted(set(numbers))
    if not lag:
        assert len(numbers) == len(reported)
