"""What counts as a sentence: for a judge, and for the limit of an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.sentence_counts import count_sentences, has_words
from scaar.core.text.sentences import split_sentences
from scaar.core.types import AnswerEnd, BudgetLimits, GenerateRequest
from scaar.testing.fakes import Piece

from .scripted import answer_in, asking, parts


@pytest.mark.parametrize("text", [" Ada.", "1", "| A |", "漢", "x = 1", "``` x\ny"])
def test_a_letter_or_a_digit_is_a_word(text: str) -> None:
    assert has_words(text)


@pytest.mark.parametrize(
    "text", ["", " \n", "...", "|---|:-:|", "🙂", "```", "\n```python", "~~~ c"]
)
def test_marks_and_fences_have_no_word(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One. Two. Three.", 3),
        ("Here:\n- one. One.\n- two\n\nDone.", 3),
        ("Here:\n\n```\na\n\nb\nc\n```\n\nDone. Well.", 4),
        ("| a |\n|---|\n| b |", 1),
        ("# Title\n- one\n- two\nProse. 1. One.", 3),
    ],
)
def test_the_lines_of_a_block_count_as_one(text: str, count: int) -> None:
    assert count_sentences(split_sentences(text)) == count


@given(st.text(st.sampled_from("aB. \n-|#`1")))
def test_prose_alone_counts_every_sentence(text: str) -> None:
    sentences = split_sentences(text)
    assert bool(sentences) <= count_sentences(sentences) <= len(sentences)


async def test_a_block_at_the_limit_of_sentences_is_completed() -> None:
    text = "Two rows.\n| A |\n|---|\n| B |\n| C |\n\nThat is it. And more. And more."

    def script(requested: GenerateRequest) -> list[Piece]:
        rest = text.removeprefix(requested.prefix)
        return (
            [(character, -0.01) for character in rest] if text.startswith(requested.prefix) else []
        )

    found = parts(script)
    request = asking("no_retrieval", budget=BudgetLimits(max_sentences=2))
    answer = answer_in(await found.events(request))
    texts = [sentence.text.strip() for sentence in answer.sentences]
    assert texts == [
        "Two rows.",
        "| A |",
        "|---|",
        "| B |",
        "| C |",
        "That is it.",
        "So the answer is",
    ]
    assert answer.end is AnswerEnd.MAX_SENTENCES
