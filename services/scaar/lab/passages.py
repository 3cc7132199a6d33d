"""Passages about a world: one a film and one a director."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from scaar.lab.questions import passage_ids
from scaar.lab.statements import state
from scaar.lab.world import Fact, World


@dataclass(frozen=True, slots=True)
class LabPassage:
    """A passage as ``scaar index build`` takes it."""

    id: str
    title: str
    text: str


def passages_of(world: World) -> Iterator[LabPassage]:
    """Every passage of a world, in the order of its films."""
    random = Random(f"passages {world.seed}")
    for index, film in enumerate(world.films):
        film_id, person_id = passage_ids(index)
        yield LabPassage(film_id, film.title, passage_text(film.facts(), random))
        director = film.director
        yield LabPassage(person_id, director.name, passage_text(director.facts(), random))


def passage_text(facts: Iterable[Fact], random: Random) -> str:
    """The facts stated in random order and style."""
    shuffled = list(facts)
    random.shuffle(shuffled)
    return " ".join(state(fact, random).text for fact in shuffled)
