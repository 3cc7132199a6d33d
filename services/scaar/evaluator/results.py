"""An evaluation as it is kept: what was to be asked of whom, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.types import BudgetLimits, Provenance
from scaar.evaluator.records import Prediction, Question, Setting

FORMAT = 1
"""The version of the form in which results are kept."""


@dataclass(frozen=True, slots=True)
class DatasetOrigin:
    """Where the questions came from, so that the same can be drawn again.

    ``limit``, ``seed``, ``style`` and ``tail_share`` are what was asked for; ``checksum`` is the
    SHA-256 of the questions, ``file_sha256`` that of their file, and ``published_as`` the official
    file it is.
    """

    name: str
    path: str
    seed: int
    questions: int
    checksum: str
    limit: int | None = None
    file_sha256: str = ""
    published_as: str = ""
    style: float | None = None
    tail_share: float | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """How the candidates of theta were placed, and the halves by the ids of their questions."""

    size: int
    candidates: Mapping[str, tuple[float, ...]]
    """By the label that a setting has without theta; only of policies that take one."""
    development: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A setting that was to be asked and that the model cannot serve, and what it lacks for it."""

    setting: Setting
    missing: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All that an evaluation is set to, and what answers in it.

    ``provenance`` is by the setting's label, and holds every value in force; ``budget`` is that of
    each answer. ``created`` is when the evaluation was begun, RFC 3339 in UTC. ``left_out`` are the
    settings that were left out because the model cannot serve them. ``generations_kept`` is
    whether the model was asked once for what settings have in common; times say nothing then.
    """

    scaar: str
    created: str
    dataset: DatasetOrigin
    settings: tuple[Setting, ...]
    provenance: Mapping[str, Provenance]
    budget: BudgetLimits
    grid: Grid | None = None
    left_out: tuple[LeftOut, ...] = ()
    generations_kept: bool = False
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Results:
    """An evaluation with its questions and the predictions that there are so far.

    The predictions are in the order of the plan: by question, then by setting.
    """

    evaluation: Evaluation
    questions: tuple[Question, ...]
    predictions: tuple[Prediction, ...]

    @property
    def missing(self) -> int:
        """How many predictions are still to be made."""
        return len(self.questions) * len(self.evaluation.settings) - len(self.predictions)


def told_left_out(left_out: Sequence[LeftOut]) -> list[str]:
    """What was left out, by what the model lacks for it, as people say it."""
    lacking: dict[str, list[str]] = {}
    for each in left_out:
        lacking.setdefault(each.missing, []).append(each.setting.label)
    return [f"{', '.join(labels)} (lacking: {what})" for what, labels in lacking.items()]
