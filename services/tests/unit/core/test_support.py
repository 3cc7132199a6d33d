"""The passages that support a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.support import supporting_passages
from scaar.core.types import Passage, RetrievedPassage, SentenceAccepted
from scaar.testing.fakes import InMemoryRetriever

from .scripted import BORN_IN_PARIS, SO_PARIS, asking, model, only, parts

LEAVE = "Employees get 14 weeks of parental leave. The form goes to the payroll office."
TRAVEL = "Travel expenses are paid back within 30 days by the payroll office."
GIT = "Use git stash push -u to put untracked files into the stash, or --all for ignored files too."
QUESTION = "How long is parental leave?"


def supporting(sentence: str, *texts: str, question: str = QUESTION) -> list[int]:
    """Return the numbers of the texts that support a sentence, from 1."""
    passages = [
        RetrievedPassage(id=str(number), title="", text=text, score=1.0, rank=number)
        for number, text in enumerate(texts, 1)
    ]
    return [int(name) for name in supporting_passages(sentence, question, passages)]


def test_the_passage_that_states_the_answer_supports_it() -> None:
    assert supporting("Parental leave is 14 weeks.", TRAVEL, LEAVE) == [2]


@pytest.mark.parametrize("value", ["16 weeks", "1.4 weeks", "140 weeks"])
def test_a_number_that_no_passage_has_is_not_supported(value: str) -> None:
    assert supporting(f"Parental leave is {value}.", LEAVE, TRAVEL) == []


def test_the_right_number_about_something_else_is_no_support() -> None:
    assert supporting("Parental leave is 30 days.", LEAVE, TRAVEL) == []


@pytest.mark.parametrize(
    ("option", "numbers"), [("`-u`", [1]), ("`--all`", [1]), ("`-a`", []), ("`--index`", [])]
)
def test_an_option_must_be_in_the_passage(option: str, numbers: list[int]) -> None:
    question = "Which option of git stash push takes untracked files?"
    assert supporting(f"The option is {option}.", GIT, question=question) == numbers


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "...",
        "How long is parental leave?",
        "Is parental leave 14 weeks?",
        "Parental leave is long.",
        "Employees get the following weeks of leave:",
    ],
)
def test_a_sentence_that_states_nothing_new_has_no_support(sentence: str) -> None:
    assert supporting(sentence, LEAVE, LEAVE) == []


@pytest.mark.parametrize("sentence", ["14 weeks", "So the answer is 14 weeks.", "14"])
def test_a_short_answer_is_supported(sentence: str) -> None:
    assert supporting(sentence, TRAVEL, LEAVE) == [2]


def test_every_passage_that_states_the_answer_supports_it() -> None:
    assert supporting("Parental leave is 14 weeks.", LEAVE, TRAVEL, LEAVE) == [1, 3]


@pytest.mark.parametrize(
    ("mark", "numbers"),
    [("[3]", [3]), ("[1][2]", [1]), ("[2]", [1, 3]), ("[9]", [1, 3]), ("[1] [3]", [1, 3])],
)
def test_the_model_s_own_marks_choose_among_the_passages_that_support(
    mark: str, numbers: list[int]
) -> None:
    assert supporting(f"Parental leave is 14 weeks {mark}.", LEAVE, TRAVEL, LEAVE) == numbers


def test_a_copied_sentence_is_supported_without_a_word_of_the_question() -> None:
    sentence = "Travel expenses are paid back by the payroll office."
    assert supporting(sentence, LEAVE, TRAVEL) == [2]


@pytest.mark.parametrize(
    ("question", "sentence", "text"),
    [
        ("Wie lange ist die Elternzeit?", "Die Elternzeit ist 14 Wochen.", "Elternzeit: 14 Wochen"),
        ("育儿假多长？", "育儿假为十四周。", "员工的育儿假为十四周。"),
        ("育児休暇の長さは？", "育児休暇は14週間です。", "社員の育児休暇は14週間です。"),
    ],
)
def test_the_rule_needs_no_words_of_a_language(question: str, sentence: str, text: str) -> None:
    assert supporting(sentence, TRAVEL, text, question=question) == [2]


def test_a_number_is_the_same_with_and_without_separators_of_thousands() -> None:
    text = "The account of the new office costs 1,234,000 euros a year."
    question = "What does the new office cost?"
    assert supporting("The new office costs 1234000 euros.", text, question=question) == [1]


@given(st.text(), st.text(), st.lists(st.text(), max_size=25))
def test_any_texts_have_supporting_passages_in_their_order(
    sentence: str, question: str, texts: list[str]
) -> None:
    numbers = supporting(sentence, *texts, question=question)
    assert numbers == sorted(set(numbers))
    assert all(1 <= number <= len(texts) for number in numbers)


@pytest.mark.parametrize(("policy", "supports"), [("single_round", True), ("no_retrieval", False)])
async def test_an_accepted_sentence_has_its_supporting_passages(
    policy: str, supports: bool
) -> None:
    passages = (Passage("p1", "Ada", "Ada was born."), Passage("p2", "", "Born in Paris: Ada."))
    ports = parts(
        model(again={"": BORN_IN_PARIS + SO_PARIS}),
        retriever=InMemoryRetriever({"lab": passages}),
    )
    first = only(SentenceAccepted, await ports.events(asking(policy)))[0].accepted
    assert first.supporting_passage_ids == (("p2",) if supports else ())
    assert set(first.passage_ids) == ({"p1", "p2"} if supports else set())
    assert not first.lacks_support


async def test_a_sentence_that_no_passage_read_states_lacks_support() -> None:
    passages = (Passage("p1", "Ada", "Ada was born in London."),)
    ports = parts(
        model(again={"": BORN_IN_PARIS + SO_PARIS}),
        retriever=InMemoryRetriever({"lab": passages}),
    )
    first = only(SentenceAccepted, await ports.events(asking("single_round")))[0].accepted
    assert first.passage_ids == ("p1",)
    assert first.lacks_support
