"""Passages about a world, one for each subject of each film."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from scaar.lab.statements import state
from scaar.lab.world import SUBJECTS, Fact, World


@dataclass(frozen=True, slots=True)
class LabPassage:
    """A passage as ``scaar index build`` reads it."""

    id: str
    title: str
    text: str


def passages_of(world: World) -> Iterator[LabPassage]:
    """Yield every passage of a world, in the order of its films and their subjects."""
    random = Random(f"passages {world.seed}")
    for index, film in enumerate(world.films):
        for what, subject in zip(SUBJECTS, film.subjects(), strict=True):
            text = passage_text(subject.facts, random)
            yield LabPassage(passage_id(what, index), subject.name, text)


def passage_id(what: str, index: int) -> str:
    """Return the id of the passage about a subject (one of SUBJECTS) of film ``index``."""
    return f"{what}-{index:04d}"


def passage_text(facts: Iterable[Fact], random: Random) -> str:
    """Return a text that states the facts in random order and style."""
    shuffled = list(facts)
    random.shuffle(shuffled)
    return " ".join(state(fact, random).text for fact in shuffled)
