"""The closed world: fictional people and films with their facts, a function of a seed.

A world holds the *known* films, the same in every world and ranked by popularity, and *tail*
films of its own. The lab language model has learned the known films, the popular ones by heart
and the last ones hardly; it has never seen a tail film of any world.
"""

import enum
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from scaar.lab import names

KNOWN_FILMS = 800
TAIL_FILMS = 800
KNOWN_SEED = 7
"""The seed of the known films. It is no world's seed of tail films: those have their own stream."""

POPULARITY_OFFSET = 6
"""A known film of rank n (from 0) is drawn with weight 1 / (n + POPULARITY_OFFSET)."""


class Relation(enum.StrEnum):
    """What a fact says of its subject."""

    DIRECTOR = "director"
    RELEASED = "released"
    STAR = "star"
    BORN = "born"
    BIRTHPLACE = "birthplace"
    DIED = "died"
    COUNTRY = "country"
    FATHER = "father"
    MOTHER = "mother"
    SPOUSE = "spouse"


FILM_RELATIONS = (Relation.DIRECTOR, Relation.RELEASED, Relation.STAR)
PERSON_RELATIONS = (
    Relation.BORN,
    Relation.BIRTHPLACE,
    Relation.DIED,
    Relation.COUNTRY,
    Relation.FATHER,
    Relation.MOTHER,
    Relation.SPOUSE,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A subject (a film's title or a person's name), a relation and its value."""

    subject: str
    relation: Relation
    value: str


@dataclass(frozen=True, slots=True)
class Person:
    """A film's director."""

    name: str
    born: str
    birthplace: str
    died: str
    country: str
    father: str
    mother: str
    spouse: str

    def facts(self) -> tuple[Fact, ...]:
        return tuple(
            Fact(self.name, relation, getattr(self, relation.value))
            for relation in PERSON_RELATIONS
        )


@dataclass(frozen=True, slots=True)
class Film:
    """A film and its director."""

    title: str
    director: Person
    released: str
    star: str

    def facts(self) -> tuple[Fact, ...]:
        return (
            Fact(self.title, Relation.DIRECTOR, self.director.name),
            Fact(self.title, Relation.RELEASED, self.released),
            Fact(self.title, Relation.STAR, self.star),
        )


@dataclass(frozen=True, slots=True)
class World:
    """The films of one seed: ``known`` by falling popularity, then ``tail``."""

    seed: int
    known: tuple[Film, ...]
    tail: tuple[Film, ...]

    @property
    def films(self) -> tuple[Film, ...]:
        return self.known + self.tail


def build_world(seed: int, *, tail_films: int = TAIL_FILMS) -> World:
    """The world of a seed. Titles and directors' names are unique within it."""
    titles: set[str] = set()
    directors: set[str] = set()
    known = tuple(
        itertools.islice(
            _unique_films(Random(f"known {KNOWN_SEED}"), titles, directors), KNOWN_FILMS
        )
    )
    tail = tuple(
        itertools.islice(_unique_films(Random(f"tail {seed}"), titles, directors), tail_films)
    )
    return World(seed, known, tail)


def popularity_weights(count: int) -> list[float]:
    """The weight with which each known film is drawn, by rank."""
    return [1 / (rank + POPULARITY_OFFSET) for rank in range(count)]


def draw_film(random: Random) -> Film:
    """A film that no world holds but by chance."""
    director = draw_person(random)
    born, died = int(director.born[-4:]), int(director.died[-4:])
    return Film(
        title=draw_title(random),
        director=director,
        released=str(random.randint(born + 20, died)),
        star=draw_name(random),
    )


def draw_person(random: Random, name: str | None = None) -> Person:
    """A director with facts of their own."""
    born = random.randint(1880, 1960)
    return Person(
        name=name or draw_name(random),
        born=_draw_date(random, born),
        birthplace=random.choice(names.PLACES),
        died=_draw_date(random, born + random.randint(25, 60)),
        country=random.choice(names.COUNTRIES),
        father=draw_name(random),
        mother=draw_name(random),
        spouse=draw_name(random),
    )


def draw_name(random: Random) -> str:
    """A first and a last name."""
    return f"{random.choice(names.FIRST_NAMES)} {random.choice(names.LAST_NAMES)}"


def draw_title(random: Random) -> str:
    """A film's title."""
    adjective = random.choice(names.TITLE_ADJECTIVES)
    noun = random.choice(names.TITLE_NOUNS)
    return f"The {adjective} {noun} of {random.choice(names.PLACES)}"


def _draw_date(random: Random, year: int) -> str:
    return f"{random.choice(names.DAYS)} {random.choice(names.MONTHS)} {year}"


def _unique_films(random: Random, titles: set[str], directors: set[str]) -> Iterator[Film]:
    while True:
        film = draw_film(random)
        if film.title in titles or film.director.name in directors:
            continue
        titles.add(film.title)
        directors.add(film.director.name)
        yield film
