from random import Random

from scaar.lab.passages import passages_of
from scaar.lab.statements import (
    RELATION_WORDS,
    STYLE_WORDS,
    Role,
    state,
    state_order,
    state_sameness,
    state_years,
)
from scaar.lab.world import build_world, draw_film


def test_a_statement_contains_its_subject_and_its_value() -> None:
    for seed in range(50):
        film = draw_film(Random(seed))
        for fact in (*film.facts(), *film.director.facts()):
            statement = state(fact, Random(seed))
            assert fact.subject in statement.text
            assert statement.text.endswith(".")
            value = [word.text for word in statement.words if word.role is Role.VALUE]
            assert " ".join(value).removesuffix(".") == fact.value


def test_words_of_style_vary_and_the_others_do_not() -> None:
    (fact, *_) = draw_film(Random(1)).facts()
    texts = {state(fact, Random(seed)).text for seed in range(200)}
    assert len(texts) == 3 * 3 * 2
    style = set(STYLE_WORDS)
    assert (
        len({" ".join(word for word in text.split() if word not in style) for text in texts}) == 1
    )


def test_the_words_of_a_relation_are_marked_as_such() -> None:
    film = draw_film(Random(1))
    for fact in (*film.facts(), *film.director.facts()):
        words = state(fact, Random(2)).words
        marked = [word.text for word in words if word.role is Role.RELATION]
        assert len(marked) == 1
        assert marked[0] in RELATION_WORDS


def test_a_plain_statement_has_no_words_of_style() -> None:
    film = draw_film(Random(1))
    for fact in (*film.facts(), *film.director.facts()):
        words = state(fact, None).text.split()
        assert not set(words) & {"movie", "picture", "indeed", "reportedly", "made"}


def test_a_conclusion_is_a_statement_too() -> None:
    years = state_years(("1921", "Ann Lee"), ("1950", "The Iron Sea"))
    assert years.text == "The years are 1921 of Ann Lee and 1950 of The Iron Sea."
    assert years.fact is None
    order = state_order("later", "1950", "The Iron Sea")
    assert order.text == "The later is 1950 of The Iron Sea."
    assert state_sameness("Elport", "Elport").text == "For Elport yes, for Elport yes."
    assert state_sameness("Elport", "Beport").text == "For Elport yes, for Beport no."
    roles = {word.text: word.role for word in (*years.words, *order.words)}
    assert roles["1921"] is Role.VALUE
    assert roles["Ann"] is Role.NAME
    assert roles["Sea."] is Role.TITLE
    assert roles["later"] is Role.RELATION


def test_a_world_has_a_passage_for_each_subject_of_a_film_always_the_same() -> None:
    world = build_world(5)
    passages = list(passages_of(world))
    assert passages == list(passages_of(build_world(5)))
    assert len({passage.id for passage in passages}) == len(passages)
    subjects = [subject for film in world.films for subject in film.subjects()]
    for passage, subject in zip(passages, subjects, strict=True):
        assert passage.title == subject.name
        assert all(fact.value in passage.text for fact in subject.facts)
