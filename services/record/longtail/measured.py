"""The policies without the gate and behind it, as they were measured, with what differs."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.types import GateJudged
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.joining.joined import read_finished
from scaar.evaluator.records import Setting
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.scores import score_of
from scaar.evaluator.statistics.estimate import Estimate, difference, estimate
from scaar.evaluator.statistics.means import Means, means_of, resampled_means
from scaar.evaluator.statistics.table import Floats, ScoreTable, TableBuilder

MEASURES = ("f1", "rouge1", "bleu4_smoothed", "meteor_exact_stem")
"""F1, and what GECE's authors measure answers by."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A policy, and the positions of its settings without the gate and behind it."""

    policy: str
    without: int
    behind: int


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Means over all questions and their draws; nothing was chosen on these questions."""

    table: ScoreTable
    means: Means
    draws: Means

    def mean(self, column: str, at: int) -> Estimate:
        """The mean of a column under a setting."""
        return estimate(self.means.of(column)[:, at], self.draws.of(column)[:, at])

    def times(self, column: str, pair: Pair) -> Estimate:
        """How many times as much of a column the policy takes without the gate."""
        means, draws = (
            each.of(column)[:, pair.without] / _above_0(each, column, pair.behind)
            for each in (self.means, self.draws)
        )
        return estimate(means, draws)

    def change(self, column: str, at: int, other: int) -> Estimate:
        """How much higher the mean of a column is under the one setting than under the other."""
        means, draws = (
            each.of(column)[:, at] - each.of(column)[:, other] for each in (self.means, self.draws)
        )
        return difference(means, draws)

    def of(self, label: str, value: str) -> "Measured":
        """The same over the questions whose label has that value."""
        return measured_of(
            self.table.of([dict(each.labels).get(label) == value for each in self.table.questions])
        )


@dataclass(frozen=True, slots=True, eq=False)
class Gated:
    """An evaluation of policies without a gate and behind it."""

    results: Results
    measured: Measured
    pairs: tuple[Pair, ...]
    alone: int
    """The position of the setting that never retrieves."""

    def judged(self) -> dict[str, GateJudged]:
        """What the gate decided of each question, which is the same under every policy."""
        found: dict[str, GateJudged] = {}
        for each in self.results.predictions:
            if each.gate is not None:
                found.setdefault(each.question_id, each.gate)
        return found


@lru_cache(maxsize=2)
def read_gated(folder: Path) -> Gated:
    """The evaluation in a folder.

    Raises:
        InvalidRequest: it has not come to its end, or nothing in it stands behind a gate.
        NotFound: there is no evaluation.
        DataCorrupt: naming the folder and the file that does not hold together.
    """
    results = read_finished(folder)
    kind = replace(kind_of(results.evaluation.dataset.name), measures=MEASURES)
    questions = {each.id: each for each in results.questions}
    builder = TableBuilder(results.questions, results.evaluation.settings)
    for each in results.predictions:
        builder.add_score(score_of(questions[each.question_id], each, kind))
    pairs, alone = _pairs(results.evaluation.settings)
    if not pairs or alone is None:
        text = f"{folder} must have no_retrieval, and policies without a gate and behind it"
        raise InvalidRequest.of("DIR", text)
    return Gated(results, measured_of(builder.build()), pairs, alone)


def measured_of(table: ScoreTable) -> Measured:
    """The means of a table and their draws, by the same seed for every table."""
    return Measured(table, means_of(table), resampled_means(table, seed=0))


def _pairs(settings: tuple[Setting, ...]) -> tuple[tuple[Pair, ...], int | None]:
    at = {each.policy: position for position, each in enumerate(settings)}
    pairs = []
    for policy, position in at.items():
        overrides = policy.overrides
        if overrides.gate is not None:
            plain = replace(policy, overrides=replace(overrides, gate=None, gate_threshold=None))
            if plain in at:
                pairs.append(Pair(policy.name, at[plain], position))
    names = [each.policy.name for each in settings]
    return tuple(pairs), names.index("no_retrieval") if "no_retrieval" in names else None


def _above_0(means: Means, column: str, at: int) -> Floats:
    """The means of a column; not a number where they are 0 and nothing can be divided by them."""
    values = means.of(column)[:, at]
    return np.where(values > 0, values, np.nan)
