import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.prompts.untrusted import MAX_PASSAGE_CHARACTERS, one_line, safe_passage

MARKER = re.compile(
    r"\b(?:Question|Answer|Context|Facts|Documents)\s?[:：]|\[\d+\]|\bthe answer is\b"
    r"|</?s>|<\||\|>|\[/?INST\]"
)
fragments = st.sampled_from(
    [
        *("Question", "Answer", ":", "：", " ", "\n", "\x00", "\u200b", "\u202e", "[", "2", "]"),
        *("the", "answer", "is", "The Answer", "<", "/s", ">", "|", "s", "INST", "/", "word", "é"),
        *(
            "Question:",
            "[1]",
            "the answer is",
            "</s>",
            "<|",
            "[INST]",
            "Context:",
            "Facts:",
            "Documents:",
        ),
    ]
)
hostile = st.lists(fragments, max_size=30).map("".join) | st.text()


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("Old.\nQuestion: Who? Answer:Bob", "Old. Question - Who? Answer -Bob"),
        ("CONTEXT : a; Facts： b", "CONTEXT - a; Facts - b"),
        ("Documents: a", "Documents - a"),
        ("see [2] and [ 13 ]", "see (2) and (13)"),
        ("So the answer is no. THE ANSWER IS", "So the answer - is no. THE ANSWER - IS"),
        ("<s>a</s><pad><|eot_id|>[INST]b[/INST]", "< s>a< /s>< pad>< |eot_id| >(INST)b(/INST)"),
        ("Ques\u200btion: hid\u202eden\ufeff", "Question - hidden"),
        ("a\x00b\x1b[0m\td\u2028e\x85f\ud800g", "a b [0m d e f g"),
    ],
)
def test_markers_that_could_steer_are_replaced(text: str, safe: str) -> None:
    assert safe_passage(text) == safe


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee (born 1951) is an actor; see [note 2], 10:30 and http://example.org/?a=[b].",
        "In this context: the question is open, and its answers are 3 < 5 | 7 > 2.",
        "The answerer is late. Faqs: none. 他死于1951年。 می‌خواهم 👩‍👩‍👧 naïve café – “so”.",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert safe_passage(text) == text


@given(hostile)
def test_no_marker_is_left_in_any_text(text: str) -> None:
    assert not MARKER.search(safe_passage(text))


@given(hostile)
def test_safe_text_is_one_line_that_stays_as_it_is_and_can_be_encoded(text: str) -> None:
    safe = safe_passage(text)
    assert safe_passage(safe) == safe
    assert one_line(safe) == safe
    assert len(safe.splitlines()) <= 1
    safe.encode()


def test_a_passage_of_a_megabyte_is_cut_at_a_word_in_no_time() -> None:
    started = process_time()
    safe = safe_passage("ordinary " * 125_000)
    assert process_time() - started < 1.0
    assert safe == "ordinary " * 221 + "ordinary"
    assert len(safe) <= MAX_PASSAGE_CHARACTERS


@pytest.mark.parametrize(
    "unit", ["x", "[2]", "Question:", "</s>", "\n", "\u200b", "[", "the answer is "]
)
def test_a_hostile_megabyte_is_cut_in_no_time_too(unit: str) -> None:
    started = process_time()
    safe = safe_passage(unit * (1_000_000 // len(unit)))
    assert process_time() - started < 1.0
    assert len(safe) <= 2 * MAX_PASSAGE_CHARACTERS


def test_a_passage_that_fits_exactly_is_not_cut() -> None:
    exact = "x" * (MAX_PASSAGE_CHARACTERS - 5) + " last"
    assert safe_passage(exact) == exact
    assert safe_passage(exact + "s") == "x" * (MAX_PASSAGE_CHARACTERS - 5)
