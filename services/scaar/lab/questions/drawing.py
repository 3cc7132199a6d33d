"""The questions of a world as a data set: drawn from its films, with answers and supports."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from scaar.lab.passages import passage_id
from scaar.lab.questions import (
    bridge_comparison,
    comparison,
    compositional,
    inference,
    one_hop,
    yes_no,
)
from scaar.lab.questions.asked import Asked, Kind
from scaar.lab.questions.films import Films, ListedFilms
from scaar.lab.world import SUBJECTS, World, popularity_weights

SHAPES = {
    Kind.ONE_HOP: one_hop.draw,
    Kind.COMPOSITIONAL: compositional.draw,
    Kind.INFERENCE: inference.draw,
    Kind.COMPARISON: comparison.draw,
    Kind.BRIDGE_COMPARISON: bridge_comparison.draw,
    Kind.YES_NO: yes_no.draw,
}
SHARES = {
    Kind.ONE_HOP: 2,
    Kind.COMPOSITIONAL: 2,
    Kind.INFERENCE: 1,
    Kind.COMPARISON: 1,
    Kind.BRIDGE_COMPARISON: 1,
    Kind.YES_NO: 1,
}
"""How often each shape is asked, beside the others."""

TEMPLATES = (
    *one_hop.TEMPLATES.values(),
    *compositional.TEMPLATES.values(),
    inference.TEMPLATE,
    *comparison.TEMPLATES.values(),
    *bridge_comparison.TEMPLATES.values(),
    *yes_no.TEMPLATES,
)

SPLITS = ("head", "tail")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the data set holds it."""

    id: str
    question: str
    answers: tuple[str, ...]
    kind: str
    split: str
    supports: tuple[str, ...]


def draw_asked(random: Random, films: Films, kind: Kind | None = None) -> Asked:
    """A question of a shape, or of any, about a film or two of these."""
    drawn = kind or random.choices(list(SHARES), list(SHARES.values()))[0]
    while True:
        asked = SHAPES[drawn](random, films)
        if len({film.title for film in asked.films}) == len(asked.films):
            return asked


def draw_questions(
    world: World, *, count: int, split: str | None = None, style: float = 1.0
) -> list[Question]:
    """``count`` distinct questions of a world, each a function of the world's seed.

    ``head`` questions are about known films, drawn by popularity; ``tail`` questions about the
    world's own films, drawn evenly. Without a split the two alternate. ``style`` is the rate of
    questions that are answered in words of style: the others ask for plain words. They are the
    same questions at every rate, and those that are plain at one rate are plain at all below it.

    Raises:
        ValueError: an unknown split, a style outside [0, 1], or more questions than are offered.
    """
    splits = SPLITS if split is None else (split,)
    if not set(splits) <= set(SPLITS):
        raise ValueError(f"split must be head or tail, not {split!r}")
    if not 0 <= style <= 1:
        raise ValueError(f"style must be 0 to 1, not {style}")
    most = _most(world, splits)
    if not 0 <= count <= most:
        raise ValueError(f"count must be 0 to {most} for this world and split, not {count}")
    streams = {name: _stream(world, name, style) for name in splits}
    return [next(streams[splits[index % len(splits)]]) for index in range(count)]


def _most(world: World, splits: tuple[str, ...]) -> int:
    films = {"head": len(world.known), "tail": len(world.tail)}
    # Far fewer than there are, so that the last ones are drawn as fast as the first.
    return 5 * min(films[name] for name in splits) * len(splits)


def _stream(world: World, split: str, style: float) -> Iterator[Question]:
    """Distinct questions of a split, without end."""
    random, plain = (Random(f"{what} {world.seed} {split}") for what in ("questions", "plain"))
    first, listed = (0, world.known) if split == "head" else (len(world.known), world.tail)
    films = ListedFilms(listed, popularity_weights(len(listed)) if split == "head" else None)
    places = {film.title: index for index, film in enumerate(listed)}
    seen: set[str] = set()
    while True:
        asked = draw_asked(random, films)
        if asked.question in seen:
            continue
        seen.add(asked.question)
        indexes = [places[film.title] for film in asked.films]
        spoken = asked if plain.random() < style else asked.plainly()
        yield Question(
            id="-".join(
                (
                    split,
                    asked.kind.replace("_", "-"),
                    *(f"{index:04d}" for index in indexes),
                    asked.wanted.replace(" ", "-"),
                )
            ),
            question=spoken.question,
            answers=(asked.answer,),
            kind=asked.kind.value,
            split=split,
            supports=_supports(asked, [first + index for index in indexes]),
        )


def _supports(asked: Asked, indexes: list[int]) -> tuple[str, ...]:
    ids = {
        subject.name: passage_id(what, index)
        for film, index in zip(asked.films, indexes, strict=True)
        for what, subject in zip(SUBJECTS, film.subjects(), strict=True)
    }
    return tuple(ids[fact.subject] for fact in asked.facts)
