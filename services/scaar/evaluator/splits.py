"""The development split and the test split of a set of questions.

Thresholds and settings are chosen on the development split, and reported values are measured on
the test split. Questions about the same entity are in the same split, so that nothing is tested on
the questions that it was chosen on.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from scaar.evaluator.records import Question


class Split(enum.StrEnum):
    """The two splits."""

    DEVELOPMENT = "development"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Splits:
    """The questions of each split, in their given order.

    Either split of a small set can be empty, since the split of each entity is drawn
    independently.
    """

    development: tuple[Question, ...]
    test: tuple[Question, ...]


def split_of(entity: str, *, seed: int) -> Split:
    """Return the split of an entity: a function of its name and the seed alone.

    An entity is in the same split of every set of questions that contains it.
    """
    digest = sha256(f"{seed} {entity}".encode()).digest()
    return Split.TEST if digest[0] & 1 else Split.DEVELOPMENT


def split_questions(questions: Iterable[Question], *, seed: int) -> Splits:
    """Return the questions by split; with many entities both have about the same number."""
    found: dict[Split, list[Question]] = {split: [] for split in Split}
    for question in questions:
        found[split_of(question.entity, seed=seed)].append(question)
    return Splits(tuple(found[Split.DEVELOPMENT]), tuple(found[Split.TEST]))
