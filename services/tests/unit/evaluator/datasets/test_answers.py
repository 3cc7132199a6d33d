"""The answer is found in what a model wrote as its data set writes answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.measures.accuracy import accuracy
from scaar.evaluator.datasets import KINDS, kind_of
from scaar.evaluator.datasets.choices import LETTERS, letter_of, with_choices
from scaar.evaluator.records import Question

CHOICES = ("the ribosome", "A mitochondrion", "3.5 m", "none of these")
PLAIN = Question("1", "Who?", ("Ann",), "1")
CHOICE = Question("1", with_choices("Which?", CHOICES), ("B",), "1", choices=CHOICES)
COMPARISON = Question("1", "Were both?", ("no",), "1", labels=(("type", "bridge_comparison"),))
BRIDGE = Question("1", "Which film?", ("No",), "1", labels=(("type", "bridge"),))


@pytest.mark.parametrize("name", KINDS)
def test_what_follows_the_last_answer_phrase_counts(name: str) -> None:
    text = "So the answer is Ann. Ann was born in Graz. So the answer is: Graz Ost."
    assert kind_of(name).extract(text, PLAIN) == "Graz Ost"


@pytest.mark.parametrize("name", KINDS)
def test_an_answer_that_was_found_already_stays_as_it_is(name: str) -> None:
    assert kind_of(name).extract(" Graz Ost ", PLAIN) == "Graz Ost"
    assert kind_of(name).extract("", PLAIN) == ""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("yes", "yes"),
        ("So the answer is yes.", "yes"),
        ("So the answer is: No, they could not.", "no"),
        ("Yes - there is no doubt", "yes"),
        ("True.", "yes"),
        ("FALSE", "no"),
        ("that no, it would not", "no"),
        ("they probably would, yes", "yes"),
        ("no one could", "no"),
        ("yes and no", "yes and no"),
        ("nobody knows", "nobody knows"),
        ("unknown", "unknown"),
    ],
)
def test_strategyqa_is_answered_by_yes_or_no(text: str, answer: str) -> None:
    assert kind_of("strategyqa").extract(text, PLAIN) == answer


@pytest.mark.parametrize("name", ["hotpotqa", "2wikimultihopqa"])
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So the answer is no, they were not.", "no"),
        ("Yes", "yes"),
        ('"Yes."', "yes"),
        ("No Country for Old Men", "No Country for Old Men"),
        ("Ann said yes", "Ann said yes"),
    ],
)
def test_a_comparison_is_answered_by_yes_or_no_where_it_begins_so(
    name: str, text: str, answer: str
) -> None:
    assert kind_of(name).extract(text, COMPARISON) == answer


def test_text_that_is_not_a_comparison_is_taken_literally() -> None:
    assert kind_of("hotpotqa").extract("No, Thanks", BRIDGE) == "No, Thanks"


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        *(("B", "B"), ("b", "B"), ("(B)", "B"), ("B.", "B"), (" (b). ", "B"), ("**B**", "B")),
        *(("B. A mitochondrion", "B"), ("(B) A mitochondrion", "B"), ("B) it is", "B")),
        *(("B: since it is", "B"), ("option B", "B"), ("Answer: (D)", "D"), ("choice c", "C")),
        *(("a mitochondrion", "B"), ("A mitochondrion.", "B"), ("the ribosome", "A")),
        *(("3.5 m", "C"), ("None of these", "D"), ("clearly (C), by the rule", "C")),
        *(("A dog", "A dog"), ("E", "E"), ("(F) six", "(F) six"), ("B or C", "B or C")),
        *(("either (A) or (B)", "either (A) or (B)"), ("ribosome", "ribosome"), ("", "")),
    ],
)
def test_a_choice_is_known_by_its_letter_or_its_text(answer: str, letter: str) -> None:
    assert letter_of(answer, CHOICES) == letter


@pytest.mark.parametrize("answer", ["B", "(B)", "B. A mitochondrion", "a mitochondrion"])
def test_mmlu_is_answered_by_a_letter(answer: str) -> None:
    text = f"It is not (A). So the answer is {answer}."
    assert kind_of("mmlu").extract(text, CHOICE) == "B"
    assert kind_of("jsonl").extract(text, CHOICE) == "B"


@given(
    choices=st.lists(
        st.text("bcdefgh 0123", min_size=2, max_size=12).map(str.strip).filter(bool),
        min_size=2,
        max_size=10,
        unique=True,
    ),
    data=st.data(),
)
def test_every_way_to_name_a_choice_is_right_and_no_other(
    choices: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(choices) - 1))
    letter, text = LETTERS[at], choices[at]
    for answer in (letter, f"({letter})", f"{letter}. {text}", f"({letter}) {text}"):
        assert letter_of(answer, choices) == letter
        assert accuracy(letter_of(answer, choices), [letter]) == 1.0
        others = [other for other in LETTERS[: len(choices)] if other != letter]
        assert accuracy(letter_of(answer, choices), others) == 0.0
