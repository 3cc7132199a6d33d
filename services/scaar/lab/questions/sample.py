"""Random sample of a world's questions as a data set, with answers and supports."""

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
from scaar.lab.questions.drawn_question import DrawnQuestion, Kind
from scaar.lab.questions.films import Films, ListedFilms
from scaar.lab.sentences.forms import RATES
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
"""Relative frequency of each shape."""

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
    """A question as stored in the data set."""

    id: str
    question: str
    answers: tuple[str, ...]
    kind: str
    split: str
    supports: tuple[str, ...]


def draw_question(random: Random, films: Films, kind: Kind | None = None) -> DrawnQuestion:
    """Draw a question of a shape, or of a random one, about one or two of the films."""
    chosen = kind or random.choices(list(SHARES), list(SHARES.values()))[0]
    while True:
        drawn = SHAPES[chosen](random, films)
        if len({film.title for film in drawn.films}) == len(drawn.films):
            return drawn


def draw_questions(
    world: World,
    *,
    count: int,
    split: str | None = None,
    style: float = 1.0,
    freedom: float | None = None,
) -> list[Question]:
    """Draw ``count`` distinct questions of a world, determined by the world's seed.

    ``head`` questions are about known films, drawn by popularity, and ``tail`` questions about the
    world's own films, drawn uniformly. Without a split, the two alternate. ``style`` is the share
    of questions that are answered with words of style; the others request plain words. The
    questions are the same at every share, and a question that is plain at one share is plain at
    every smaller one. With ``freedom``, all of them request words without facts after each
    statement, and this share of those words varies freely (:mod:`scaar.lab.free_statements`).

    Raises:
        ValueError: the split is unknown, ``style`` is outside [0, 1], ``freedom`` is no rate of
            free words, or ``count`` exceeds the maximum.
    """
    splits = SPLITS if split is None else (split,)
    if not set(splits) <= set(SPLITS):
        raise ValueError(f"split must be head or tail, not {split!r}")
    if not 0 <= style <= 1:
        raise ValueError(f"style must be 0 to 1, not {style}")
    if freedom is not None and freedom not in RATES:
        raise ValueError(f"freedom must be one of {', '.join(map(str, RATES))}, not {freedom}")
    maximum = _max_count(world, splits)
    if not 0 <= count <= maximum:
        raise ValueError(f"count must be 0 to {maximum} for this world and split, not {count}")
    streams = {name: _stream(world, name, style, freedom) for name in splits}
    return [next(streams[splits[index % len(splits)]]) for index in range(count)]


def _max_count(world: World, splits: tuple[str, ...]) -> int:
    films = {"head": len(world.known), "tail": len(world.tail)}
    # Far fewer than exist, so that the last questions are drawn as fast as the first.
    return 5 * min(films[name] for name in splits) * len(splits)


def _stream(world: World, split: str, style: float, freedom: float | None) -> Iterator[Question]:
    """Yield distinct questions of a split, without end."""
    random, plain = (Random(f"{what} {world.seed} {split}") for what in ("questions", "plain"))
    first, listed = (0, world.known) if split == "head" else (len(world.known), world.tail)
    films = ListedFilms(listed, popularity_weights(len(listed)) if split == "head" else None)
    places = {film.title: index for index, film in enumerate(listed)}
    seen: set[str] = set()
    while True:
        drawn = draw_question(random, films)
        if drawn.question in seen:
            continue
        seen.add(drawn.question)
        indexes = [places[film.title] for film in drawn.films]
        if freedom is not None:
            spoken = drawn.freely(freedom)
        else:
            spoken = drawn if plain.random() < style else drawn.plainly()
        yield Question(
            id="-".join(
                (
                    split,
                    drawn.kind.replace("_", "-"),
                    *(f"{index:04d}" for index in indexes),
                    drawn.target.replace(" ", "-"),
                )
            ),
            question=spoken.question,
            answers=(drawn.answer,),
            kind=drawn.kind.value,
            split=split,
            supports=_supports(drawn, [first + index for index in indexes]),
        )


def _supports(drawn: DrawnQuestion, indexes: list[int]) -> tuple[str, ...]:
    ids = {
        subject.name: passage_id(what, index)
        for film, index in zip(drawn.films, indexes, strict=True)
        for what, subject in zip(SUBJECTS, film.subjects(), strict=True)
    }
    return tuple(ids[fact.subject] for fact in drawn.facts)
