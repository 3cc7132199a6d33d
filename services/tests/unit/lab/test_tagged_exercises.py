"""The exercises of the tagged models: what is decided, and that a reader could decide it."""

import re
from itertools import pairwise
from random import Random

import pytest

from scaar.core.prompts.reflection import (
    IRRELEVANT,
    NO_RETRIEVAL,
    NO_SUPPORT,
    PARAGRAPH,
    PARAGRAPH_END,
    REFLECTION_TOKENS,
    RETRIEVAL,
    UTILITIES,
)
from scaar.lab.tags import ANSWER, INFORMATION, SEARCH, SEARCH_END, SEARCH_TAGS, THINK
from scaar.lab.training.exercises import Part
from scaar.lab.training.reflection_exercises import ReflectionBook
from scaar.lab.training.search_exercises import SearchBook
from scaar.lab.training.tagged_exercises import BY_HEART, TaggedExercise
from scaar.lab.world import World, build_world

COUNT = 600


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(1)


@pytest.fixture(scope="module")
def reflections(world: World) -> list[TaggedExercise]:
    book = ReflectionBook(world, Random(1))
    return [book.draw() for _ in range(COUNT)]


@pytest.fixture(scope="module")
def searches(world: World) -> list[TaggedExercise]:
    book = SearchBook(world, Random(1))
    return [book.draw() for _ in range(COUNT)]


def text_of(exercise: TaggedExercise) -> str:
    return "".join(part.text for part in exercise.parts)


def by_heart(world: World, prompt: str) -> bool:
    """Return whether a question names a subject of the films that count as known."""
    known = {subject.name for film in world.known[:BY_HEART] for subject in film.subjects()}
    return any(name in prompt for name in known)


def test_a_trained_first_decision_is_to_retrieve_exactly_for_films_that_are_not_known(
    world: World, reflections: list[TaggedExercise], searches: list[TaggedExercise]
) -> None:
    first = [each.parts[0] for each in (*reflections, *searches)]
    assert {part.text for part in first} == {RETRIEVAL, NO_RETRIEVAL, SEARCH, THINK}
    for exercise in (*reflections, *searches):
        decision: Part = exercise.parts[0]
        if decision.weight:
            known = by_heart(world, exercise.prompt)
            assert (decision.text in (NO_RETRIEVAL, THINK)) == known


def test_a_passage_is_relevant_if_it_is_about_the_subject_that_the_next_sentence_needs(
    reflections: list[TaggedExercise],
) -> None:
    judged = 0
    for exercise in reflections:
        text = text_of(exercise)
        for found in re.finditer(
            rf"{PARAGRAPH}(?P<passage>[^<]+){PARAGRAPH_END}\[Relevant\] (?P<sentence>[^\[]+)", text
        ):
            words = found["sentence"].split()
            names = [f"{first} {second}" for first, second in pairwise(words)]
            assert any(name in found["passage"] for name in names)
            judged += 1
    assert judged > 50


def test_answers_end_with_their_utility_and_irrelevant_passages_support_nothing(
    reflections: list[TaggedExercise],
) -> None:
    whole = [text_of(each) for each in reflections if each.ends]
    for text in whole:
        utility = next(each for each in UTILITIES if text.endswith(each))
        support = NO_SUPPORT in text
        assert support == (IRRELEVANT in text)
        guessed = NO_RETRIEVAL in text and utility == UTILITIES[0]
        assert support or guessed or utility == UTILITIES[4]
    assert all(tag in str(whole) for tag in REFLECTION_TOKENS if tag != UTILITIES[3])


def test_a_search_names_a_subject_and_its_results_may_lack_it(
    searches: list[TaggedExercise],
) -> None:
    requests = found = 0
    for text in map(text_of, searches):
        for request in re.finditer(rf"{SEARCH} ([^<]+){SEARCH_END}(?P<rest>.*)", text, re.DOTALL):
            if INFORMATION in request["rest"]:
                requests += 1
                results = request["rest"].partition("</information>")[0]
                found += f"(Title: {request[1]})" in results
    assert 0.85 < found / requests < 1
    ended = [text_of(each) for each in searches if each.ends]
    assert all(text.count(ANSWER) == 1 for text in ended)
    assert all(tag in str(ended) for tag in SEARCH_TAGS)
