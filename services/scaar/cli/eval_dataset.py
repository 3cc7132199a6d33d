"""The questions of ``--dataset``: drawn by its seed, as many as its limit."""

from dataclasses import dataclass
from pathlib import Path

from scaar.compose import lab_index_name
from scaar.core.errors import InvalidRequest, Violation
from scaar.evaluator.datasets.drawing import draw_questions
from scaar.evaluator.datasets.kind import Kind
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin

_OPTIONS = {
    "dataset": "--dataset",
    "path": "--dataset",
    "count": "--limit",
    "limit": "--limit",
    "seed": "--seed",
    "style": "--style",
    "tail_share": "--tail-share",
}
"""The options that a data set's own fields are given by."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Questions, where they came from, and what goes with them."""

    kind: Kind
    questions: tuple[Question, ...]
    origin: DatasetOrigin
    index: str | None = None
    """The index of the passages that go with them, where there is one."""

    @property
    def lab_world(self) -> int | None:
        return self.origin.seed if self.kind is LAB else None


def draw(
    dataset: str,
    *,
    limit: int | None,
    seed: int | None,
    aliases: Path | None = None,
    style: float | None = None,
    tail_share: float | None = None,
) -> Drawn:
    """The questions of ``NAME`` or ``NAME:PATH``; those of a file stand in its order.

    Raises:
        InvalidRequest: there is no such data set, its file is none of it, or it has not so many
            questions.
    """
    name, _, path = dataset.partition(":")
    try:
        drawn = draw_questions(
            name,
            path,
            limit=limit,
            seed=seed,
            aliases=aliases,
            style=style,
            tail_share=tail_share,
        )
    except InvalidRequest as error:
        raise InvalidRequest([_of_option(each) for each in error.violations]) from error
    index = lab_index_name(drawn.origin.seed) if name == LAB.name else None
    return Drawn(drawn.kind, drawn.questions, drawn.origin, index)


def _of_option(wrong: Violation) -> Violation:
    return Violation(_OPTIONS.get(wrong.field, wrong.field), wrong.description)
