"""The closed world: fictional people and films with their facts, generated from a seed.

A world contains the *known* films, which are the same in every world and ranked by popularity, and
its own *tail* films. The lab's language model was trained on the known films, knows the popular
ones by heart and the last ones hardly, and has never seen a tail film of any world. Some tail films
and their directors have names similar to those of known films, which searches by name confuse.
"""

import enum
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from scaar.lab import names
from scaar.lab.near_names import near_name, near_title

KNOWN_FILMS = 800
TAIL_FILMS = 800
KNOWN_SEED = 7
"""Seed of the known films. Seeds of tail films are independent, in a random stream of their own."""

POPULARITY_OFFSET = 6
"""A known film of rank n (from 0) is drawn with weight 1 / (n + POPULARITY_OFFSET)."""

NEAR_NAMES = 0.25
"""Share of tail films with a name similar to a known film's, more often to a popular one's."""


class Relation(enum.StrEnum):
    """Relation between the subject of a fact and its value."""

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


RELATIVE_RELATIONS = (Relation.FATHER, Relation.MOTHER)


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of a passage, with its name and facts."""

    name: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Relative:
    """A parent or the spouse of a director."""

    name: str
    father: str
    mother: str

    def facts(self) -> tuple[Fact, ...]:
        return _facts(self, RELATIVE_RELATIONS)


@dataclass(frozen=True, slots=True)
class Person:
    """The director of a film, with a ``family`` of father, mother and spouse."""

    name: str
    born: str
    birthplace: str
    died: str
    country: str
    father: str
    mother: str
    spouse: str
    family: tuple[Relative, Relative, Relative]

    def facts(self) -> tuple[Fact, ...]:
        return _facts(self, PERSON_RELATIONS)


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

    def subjects(self) -> tuple[Subject, ...]:
        """Return the film, its director and the director's family, in the order of SUBJECTS."""
        return (
            Subject(self.title, self.facts()),
            *(Subject(one.name, one.facts()) for one in (self.director, *self.director.family)),
        )


SUBJECTS = ("film", "director", "father", "mother", "spouse")
"""Roles of a film's subjects."""


@dataclass(frozen=True, slots=True)
class World:
    """The films of a seed: ``known``, by decreasing popularity, and ``tail``."""

    seed: int
    known: tuple[Film, ...]
    tail: tuple[Film, ...]

    @property
    def films(self) -> tuple[Film, ...]:
        return self.known + self.tail


def build_world(seed: int, *, tail_films: int = TAIL_FILMS) -> World:
    """Generate the world of a seed. The names of subjects are unique within a world."""
    taken: set[str] = set()
    random = Random(f"known {KNOWN_SEED}")
    known = tuple(itertools.islice(_distinct(lambda: draw_film(random), taken), KNOWN_FILMS))
    draw = tail_drawer(known, Random(f"tail {seed}"))
    return World(seed, known, tuple(itertools.islice(_distinct(draw, taken), tail_films)))


def popularity_weights(count: int) -> list[float]:
    """Return the weight with which each known film is drawn, by rank."""
    return [1 / (rank + POPULARITY_OFFSET) for rank in range(count)]


def tail_drawer(known: Sequence[Film], random: Random) -> Callable[[], Film]:
    """Return a function that draws tail films, some with a name similar to a known film's."""
    weights = popularity_weights(len(known))

    def draw() -> Film:
        like = random.choices(known, weights)[0] if random.random() < NEAR_NAMES else None
        return draw_film(random, like=like)

    return draw


def draw_film(random: Random, *, like: Film | None = None) -> Film:
    """Draw a random film. With ``like``, the title and the director's name are similar to its."""
    director = draw_person(random, near_name(like.director.name, random) if like else None)
    born, died = int(director.born[-4:]), int(director.died[-4:])
    return Film(
        title=near_title(like.title, random) if like else draw_title(random),
        director=director,
        released=str(random.randint(born + 20, died)),
        star=draw_name(random),
    )


def draw_person(random: Random, name: str | None = None) -> Person:
    """Draw a director with facts and a family."""
    born = random.randint(1880, 1960)
    father, mother, spouse = (
        Relative(draw_name(random), draw_name(random), draw_name(random)) for _ in range(3)
    )
    return Person(
        name=name or draw_name(random),
        born=_draw_date(random, born),
        birthplace=random.choice(names.PLACES),
        died=_draw_date(random, born + random.randint(25, 60)),
        country=random.choice(names.COUNTRIES),
        father=father.name,
        mother=mother.name,
        spouse=spouse.name,
        family=(father, mother, spouse),
    )


def draw_name(random: Random) -> str:
    """Draw a first and a last name."""
    return f"{random.choice(names.FIRST_NAMES)} {random.choice(names.LAST_NAMES)}"


def draw_title(random: Random) -> str:
    """Draw the title of a film."""
    return f"The {random.choice(names.TITLE_ADJECTIVES)} {random.choice(names.TITLE_NOUNS)}"


def _draw_date(random: Random, year: int) -> str:
    return f"{random.choice(names.DAYS)} {random.choice(names.MONTHS)} {year}"


def _facts(of: Person | Relative, relations: Sequence[Relation]) -> tuple[Fact, ...]:
    return tuple(Fact(of.name, relation, getattr(of, relation.value)) for relation in relations)


def _distinct(draw: Callable[[], Film], taken: set[str]) -> Iterator[Film]:
    """Yield films whose subjects have unused names."""
    while True:
        film = draw()
        found = {subject.name for subject in film.subjects()}
        if len(found) < len(SUBJECTS) or found & taken:
            continue
        taken |= found
        yield film
