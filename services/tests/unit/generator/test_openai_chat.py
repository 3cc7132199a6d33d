"""Repeats of a chat model are removed; its continuation is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.openai_server.chat import RepeatFilter
from scaar.generator.engines.served.text import ServedToken

SO_FAR = " Ada wrote the first program. She lived in London."
WORDS = st.sampled_from("Ada wrote She lived in London the of and 🙂 1,5".split())
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(lambda words: f" She {' '.join(words)}.")


def cut(so_far: str, written: str, *, size: int = 4) -> str:
    """Return the rest of a text that arrives in tokens of ``size`` characters."""
    cutting = RepeatFilter(so_far)
    pieces = [written[at : at + size] for at in range(0, len(written), size)]
    tokens = [token for piece in pieces for token in cutting.feed(ServedToken(0, piece))]
    return "".join(token.text for token in (*tokens, *cutting.flush()))


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize(
    "repeated",
    [
        SO_FAR,
        SO_FAR.strip(),
        " She lived in London.",
        "She lived  in\nLondon.",
        "",
    ],
)
def test_a_repeat_from_the_beginning_of_a_sentence_is_cut(repeated: str, size: int) -> None:
    assert cut(SO_FAR, f"{repeated} She died there.", size=size) == " She died there."


@pytest.mark.parametrize(
    "written",
    [
        " She lived in Paris.",
        " Ada wrote the first program for Babbage.",
        " London.",
        " She",
        "",
    ],
)
def test_a_text_that_only_starts_like_a_repeat_is_unchanged(written: str) -> None:
    assert cut(SO_FAR, written) == written


def test_a_repeat_with_nothing_after_it_leaves_nothing() -> None:
    assert cut(SO_FAR, SO_FAR.strip()) == ""


def test_a_started_sentence_is_continued() -> None:
    so_far = f"{SO_FAR} So the answer is"
    for written in ("So the answer is London.", " London.", "London."):
        assert cut(so_far, written) == " London."


def test_the_continuation_is_separated_by_a_space_if_needed() -> None:
    assert cut("She lived in London.", "She died there.") == " She died there."
    assert cut("She lived in London. ", "She died there.") == "She died there."
    assert cut("She lived in London", ", and died there.") == ", and died there."
    assert cut("", "She lived in London.") == "She lived in London."


def test_a_repeat_within_the_text_is_left() -> None:
    written = " Then again: She lived in London."
    assert cut(SO_FAR, written) == written


@given(st.lists(SENTENCES, min_size=1, max_size=4), st.data())
def test_any_repeat_of_the_last_sentences_is_cut(sentences: list[str], data: st.DataObject) -> None:
    so_far = "".join(sentences)
    start = data.draw(st.integers(0, len(sentences)))
    size = data.draw(st.integers(1, 12))
    rest = " Nothing of this was said before."
    assert cut(so_far, "".join(sentences[start:]) + rest, size=size) == rest


@given(st.text(max_size=30), st.text(max_size=60), st.integers(1, 8))
def test_only_repeats_are_removed(so_far: str, written: str, size: int) -> None:
    left = "".join(cut(so_far, written, size=size).split())
    bare = "".join(written.split())
    assert bare.endswith(left)
    assert "".join(so_far.split()).endswith(bare[: len(bare) - len(left)])
