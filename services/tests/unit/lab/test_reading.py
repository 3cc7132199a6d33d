from random import Random

import pytest

from scaar.core.text.sentences import split_sentences
from scaar.lab.passages import passages_of
from scaar.lab.questions import draw_questions
from scaar.lab.reading import WorldFacts, facts_of, read_fact
from scaar.lab.statements import state, state_order, state_sameness, state_years
from scaar.lab.world import KNOWN_FILMS, Fact, Relation, World, build_world

SEED = 1001


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(SEED)


@pytest.fixture(scope="module")
def facts() -> WorldFacts:
    return facts_of(SEED)


def test_every_fact_of_a_world_is_read_back_in_every_style(world: World, facts: WorldFacts) -> None:
    style = Random(1)
    for film in world.films[:: len(world.films) // 100]:
        for subject in film.subjects():
            for fact in subject.facts:
                for text in (state(fact, style).text, state(fact, None).text):
                    assert read_fact(f" {text}") == fact
                    assert facts.is_right(text) is True


def test_a_sentence_that_states_no_fact_is_neither_right_nor_wrong(facts: WorldFacts) -> None:
    for text in (
        state_years(("1921", "Ann Lee"), ("1950", "The Iron Sea")).text,
        state_order("later", "1950", "The Iron Sea").text,
        state_sameness("Elport", "Elport").text,
        "So the answer is Elport.",
        "",
    ):
        assert read_fact(text) is None
        assert facts.is_right(text) is None
        assert facts.support(text) is None
        assert facts.query(text) is None
        assert facts.is_known(text) is None


def test_a_wrong_value_is_wrong_and_the_passage_of_its_subject_supports_the_right_one(
    world: World, facts: WorldFacts
) -> None:
    index = KNOWN_FILMS + 3
    film = world.films[index]
    wrong = f"The movie {film.title} was reportedly made by {world.films[0].director.name}."
    assert facts.is_right(wrong) is False
    assert facts.support(wrong) == f"film-{index:04d}"
    assert facts.query(wrong) == film.title
    assert facts.is_known(wrong) is False
    of_family = f"The mother of {film.director.family[1].name} was {film.director.name}."
    assert facts.is_right(of_family) is False
    assert facts.support(of_family) == f"mother-{index:04d}"
    assert facts.is_known(f"The film {world.films[0].title} stars Nobody.") is True


def test_a_subject_outside_the_world_or_without_the_relation_has_no_support(
    world: World, facts: WorldFacts
) -> None:
    father = world.films[0].director.family[0].name
    for text in ("Nobody Here died on 1 May 1900.", f"{father} died on 1 May 1900."):
        assert facts.is_right(text) is False
        assert facts.support(text) is None
        assert facts.query(text) is None


def test_date_and_place_of_birth_are_two_facts() -> None:
    assert read_fact("Ann Lee was born on 5 May 1900.") == Fact(
        "Ann Lee", Relation.BORN, "5 May 1900"
    )
    assert read_fact("Ann Lee was indeed born in Elport") == Fact(
        "Ann Lee", Relation.BIRTHPLACE, "Elport"
    )


def test_the_sentences_of_a_passage_are_right_and_supported_by_it(
    world: World, facts: WorldFacts
) -> None:
    for passage in list(passages_of(world))[::97]:
        sentences = split_sentences(passage.text)
        assert sentences
        for sentence in sentences:
            assert facts.is_right(sentence) is True
            assert facts.support(sentence) == passage.id


def test_the_questions_of_a_world_mention_its_subjects(world: World, facts: WorldFacts) -> None:
    for question in draw_questions(world, count=200):
        assert facts.mentions(question.question)
    others = draw_questions(build_world(SEED + 1), count=50, split="tail")
    # A few titles occur in several worlds.
    assert sum(facts.mentions(question.question) for question in others) < 10


def test_the_facts_of_a_seed_are_built_once() -> None:
    assert facts_of(SEED) is facts_of(SEED)
    assert facts_of(SEED).seed == SEED
