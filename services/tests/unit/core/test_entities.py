"""Entities of questions and sentences, and what a sentence states of them."""

import pytest

from scaar.core.text.entities import entity_spans, entity_text, question_entities, statement_of


@pytest.mark.parametrize(
    ("question", "entities"),
    [
        ("Where was Ada born?", ("Ada",)),
        ("Who is the mother of the director of The Silent River?", ("The Silent River",)),
        ("In what year did Ada Lovelace's father die?", ("Ada Lovelace",)),
        ("Is Paris larger than Rome?", ("Paris", "Rome")),
        ("Did Ada know Byron, and ADA Paris?", ("Ada", "Byron", "ADA Paris")),
        ("Was Ada older than Ada?", ("Ada",)),
        ("What is it?", ()),
        ("", ()),
    ],
)
def test_the_entities_of_a_question_are_its_distinct_names(
    question: str, entities: tuple[str, ...]
) -> None:
    assert question_entities(question) == entities


@pytest.mark.parametrize(
    ("sentence", "head", "tails"),
    [
        ("Ada was born in Paris.", "Ada", ["Paris"]),
        ("In Paris, Ada met Lord Byron.", "Paris", ["Ada", "Lord Byron"]),
        ("The mother of Ada Lovelace was Anne Byron.", "Ada Lovelace", ["Anne Byron"]),
        ("Ada died on May 12, 1852.", "Ada", ["May 12, 1852"]),
        ("Ada sang.", "Ada", []),
        ("Byron's sister was Byron.", "Byron", []),
        ("Byron met Ada, and Byron met Zoe.", "Byron", ["Ada", "Zoe"]),
        ("She was born in Paris.", None, ["Paris"]),
        ("It rained.", None, []),
    ],
)
def test_a_sentence_states_of_its_first_entity_what_relates_it_to_the_others(
    sentence: str, head: str | None, tails: list[str]
) -> None:
    stated = statement_of("Where was Ada born?", sentence.split())
    assert (stated.text(stated.head) if stated.head else None) == head
    assert list(map(stated.text, stated.tails)) == tails
    assert stated.heads == (("Ada",) if tails and head is None else ())
    assert len(stated.entities) == len(tails) + (head is not None)


def test_without_an_entity_in_the_question_the_only_one_of_a_sentence_is_its_head() -> None:
    stated = statement_of("Where was she born?", "She was born in Paris.".split())
    assert stated.head is not None
    assert (stated.text(stated.head), stated.tails, stated.heads) == ("Paris", (), ())


@pytest.mark.parametrize("sentence", ["", "...", "— ?"])
def test_a_sentence_without_words_has_no_entities(sentence: str) -> None:
    assert entity_spans(sentence.split()) == ()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Ada Lovelace's", "Ada Lovelace"),
        ("“Ada", "Ada"),
        ("Jones’", "Jones"),
        ("Adams’s,", "Adams"),
        ("U.S.", "U.S"),
        ("(1852).", "1852"),
    ],
)
def test_the_text_of_an_entity_has_no_possessive_ending_and_no_marks_around_it(
    words: str, text: str
) -> None:
    given = words.split()
    assert entity_text(given, (0, len(given))) == text
