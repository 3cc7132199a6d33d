from random import Random

import pytest

from scaar.lab import names
from scaar.lab.world import (
    KNOWN_FILMS,
    NEAR_NAMES,
    SUBJECTS,
    TAIL_FILMS,
    World,
    build_world,
    draw_film,
    popularity_weights,
)

POPULAR = 50


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(2000)


def test_the_same_seed_is_the_same_world(world: World) -> None:
    assert build_world(2000) == world


def test_worlds_share_the_known_films_and_no_tail_film(world: World) -> None:
    other = build_world(2001)
    assert other.known == world.known
    assert not set(other.tail) & set(world.tail)
    known = {film.title for film in world.known}
    assert not {film.title for film in (*other.tail, *world.tail)} & known


def test_no_two_subjects_of_a_world_have_one_name(world: World) -> None:
    assert (len(world.known), len(world.tail)) == (KNOWN_FILMS, TAIL_FILMS)
    assert world.films == world.known + world.tail
    names = [subject.name for film in world.films for subject in film.subjects()]
    assert len(set(names)) == len(names) == len(SUBJECTS) * (KNOWN_FILMS + TAIL_FILMS)


def test_some_tail_films_and_directors_have_names_similar_to_popular_ones(world: World) -> None:
    def apart(one: str, other: str) -> int:
        return sum(a != b for a, b in zip(one.split(), other.split(), strict=True))

    near = [
        sum(
            apart(film.title, known.title) == apart(film.director.name, known.director.name) == 1
            for film in world.tail
        )
        for known in world.known
    ]
    weights = popularity_weights(KNOWN_FILMS)
    meant = NEAR_NAMES * TAIL_FILMS * sum(weights[:POPULAR]) / sum(weights)
    by_chance = sum(near[-POPULAR:])
    assert by_chance < meant / 2
    assert sum(near[:POPULAR]) == pytest.approx(meant + by_chance, rel=0.3)


def test_a_similar_film_differs_in_a_word_of_its_title_and_of_its_director() -> None:
    random = Random(1)
    like = draw_film(random)
    for _ in range(20):
        film = draw_film(random, like=like)
        assert len(set(film.title.split()) & set(like.title.split())) == 2
        assert len(set(film.director.name.split()) & set(like.director.name.split())) == 1


def test_fewer_tail_films_are_the_first_of_them(world: World) -> None:
    assert build_world(2000, tail_films=5).tail == world.tail[:5]


def test_a_director_is_an_adult_at_the_release_and_dies_later(world: World) -> None:
    for film in world.films:
        born, died = int(film.director.born[-4:]), int(film.director.died[-4:])
        assert born + 20 <= int(film.released) <= died


def test_a_fact_is_of_its_film_or_of_its_director() -> None:
    film = draw_film(Random(1))
    assert {fact.subject for fact in film.facts()} == {film.title}
    assert {fact.subject for fact in film.director.facts()} == {film.director.name}
    for relation, relative in zip(
        ("father", "mother", "spouse"), film.director.family, strict=True
    ):
        assert relative.name == getattr(film.director, relation)
        assert [fact.value for fact in relative.facts()] == [relative.father, relative.mother]
    assert [fact.value for fact in film.facts()] == [film.director.name, film.released, film.star]
    assert [fact.relation.value for fact in film.director.facts()] == [
        "born",
        "birthplace",
        "died",
        "country",
        "father",
        "mother",
        "spouse",
    ]


def test_popularity_falls_by_rank() -> None:
    weights = popularity_weights(KNOWN_FILMS)
    assert weights == sorted(weights, reverse=True)
    assert min(weights) > 0


def test_no_name_is_in_two_lists() -> None:
    lists = (
        names.FIRST_NAMES,
        names.LAST_NAMES,
        names.PLACES,
        names.COUNTRIES,
        names.TITLE_ADJECTIVES,
        names.TITLE_NOUNS,
    )
    every = [name for each in lists for name in each]
    assert len(every) == len(set(every))
