"""Variants of a world's passages that test how a policy handles poor retrieval.

Chen et al., "Benchmarking Large Language Models in Retrieval-Augmented Generation" (RGB), AAAI
2024, name four abilities: robustness to noise, rejection where no passage has the answer,
integration of several passages, and robustness to false passages. Three are variants here. The
lab's questions of every kind but ``one_hop`` need two passages or more. A fourth variant has a
passage for each fact, of which a search must find the right one.
"""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from scaar.lab.fact_passages import fact_passages_of
from scaar.lab.near_names import near_name, near_title
from scaar.lab.passages import LabPassage, passage_id, passage_text, passages_of
from scaar.lab.world import SUBJECTS, Fact, Film, Subject, World, draw_film


class Variant(enum.StrEnum):
    """How passages differ from the facts of their world."""

    NONE = "none"
    """Every fact is in one passage."""
    DISTRACTORS = "distractors"
    """For each passage there is another one about a subject with a similar name."""
    NO_ANSWER = "no_answer"
    """Tail films have no passages."""
    FALSE = "false"
    """Passages state the values of another film."""
    FACTS = "facts"
    """Every fact has a passage of its own."""


def varied_passages(world: World, variant: Variant) -> Iterator[LabPassage]:
    """Yield the passages of a variant of a world.

    Passages about subjects of the world have the same ids in every variant except ``facts``.
    """
    match variant:
        case Variant.NONE:
            yield from passages_of(world)
        case Variant.DISTRACTORS:
            yield from passages_of(world)
            yield from _distractors(world)
        case Variant.NO_ANSWER:
            yield from passages_of(replace(world, tail=()))
        case Variant.FALSE:
            yield from _false(world)
        case Variant.FACTS:
            yield from fact_passages_of(world)


def _distractors(world: World) -> Iterator[LabPassage]:
    random = Random(f"distractors {world.seed}")
    taken = {subject.name for film in world.films for subject in film.subjects()}
    for index, film in enumerate(world.films):
        invented = draw_film(random)
        for what, subject, other in zip(
            SUBJECTS, film.subjects(), invented.subjects(), strict=True
        ):
            near = near_title if what == SUBJECTS[0] else near_name
            name = near(subject.name, random)
            while name in taken:
                name = near(subject.name, random)
            taken.add(name)
            text = passage_text(_about(name, other), random)
            yield LabPassage(f"{passage_id(what, index)}-distractor", name, text)


def _false(world: World) -> Iterator[LabPassage]:
    random = Random(f"false {world.seed}")
    index = 0
    for films in (world.known, world.tail):
        for film, other in zip(films, _rotated(films), strict=True):
            for what, subject, false in zip(
                SUBJECTS, film.subjects(), other.subjects(), strict=True
            ):
                text = passage_text(_about(subject.name, false), random)
                yield LabPassage(passage_id(what, index), subject.name, text)
            index += 1


def _rotated(films: Sequence[Film]) -> Sequence[Film]:
    return (*films[1:], *films[:1])


def _about(name: str, subject: Subject) -> tuple[Fact, ...]:
    """Return the facts of a subject under another name."""
    return tuple(replace(fact, subject=name) for fact in subject.facts)
