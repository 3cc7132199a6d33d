"""An evaluation as it is stored: its settings, its provenance and its predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.types import BudgetLimits, Filter, Provenance
from scaar.evaluator.records import Prediction, Question, Setting

FORMAT = 1
"""Version of the format of stored results."""


@dataclass(frozen=True, slots=True)
class DatasetOrigin:
    """The origin of the questions, with which the same questions can be drawn again.

    ``limit``, ``seed``, ``style``, ``tail_share`` and ``freedom`` are the requested values.
    ``checksum`` is the SHA-256 of the questions, ``file_sha256`` that of their file, and
    ``published_as`` the name of the official file with that checksum.
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
    freedom: float | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """The candidates of theta, and the ids of the questions of each split."""

    size: int
    candidates: Mapping[str, tuple[float, ...]]
    """By the label of the setting without theta; only for policies that take a theta."""
    development: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A setting that the model cannot serve, and what the model lacks."""

    setting: Setting
    missing: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The settings of an evaluation and the provenance of their answers.

    ``provenance`` maps the label of a setting to every value in force; ``budget`` is the budget of
    each answer. ``created`` is the start of the evaluation, RFC 3339 in UTC. ``left_out`` are the
    settings that the model cannot serve. With ``generations_cached``, generations that settings
    have in common were cached, so that measured times are meaningless. ``filters`` are those of
    every retrieval.
    """

    scaar: str
    created: str
    dataset: DatasetOrigin
    settings: tuple[Setting, ...]
    provenance: Mapping[str, Provenance]
    budget: BudgetLimits
    grid: Grid | None = None
    left_out: tuple[LeftOut, ...] = ()
    generations_cached: bool = False
    filters: tuple[Filter, ...] = ()
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Results:
    """An evaluation with its questions and the predictions made so far.

    The predictions are in the order of the plan: by question, then by setting.
    """

    evaluation: Evaluation
    questions: tuple[Question, ...]
    predictions: tuple[Prediction, ...]

    @property
    def missing(self) -> int:
        """The number of predictions that are not made yet."""
        return len(self.questions) * len(self.evaluation.settings) - len(self.predictions)


def describe_left_out(left_out: Sequence[LeftOut]) -> list[str]:
    """Describe the settings that were left out, grouped by what the model lacks."""
    lacking: dict[str, list[str]] = {}
    for each in left_out:
        lacking.setdefault(each.missing, []).append(each.setting.label)
    return [f"{', '.join(labels)} (lacking: {what})" for what, labels in lacking.items()]
