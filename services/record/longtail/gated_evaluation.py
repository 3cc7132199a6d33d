"""An evaluation of policies without a gate and with the gate: means, differences, ratios."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.types import GateJudged
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.records import Setting
from scaar.evaluator.report.cells import text
from scaar.evaluator.report.model import Cell
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.scores import score_of
from scaar.evaluator.scoring.summary import table_of
from scaar.evaluator.statistics.estimate import Estimate, difference, estimate
from scaar.evaluator.statistics.means import Means, resampled_means
from scaar.evaluator.statistics.table import Floats, ScoreTable
from scaar.evaluator.studies.joining.evaluations import read_finished

MEASURES = ("f1", "rouge1", "bleu4_smoothed", "meteor_exact_stem")
"""F1, and what GECE's authors measure answers by."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A policy, and the positions of its settings without the gate and with the gate."""

    policy: str
    without: int
    behind: int


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """Means over all questions, with bootstrap samples; nothing was chosen on these questions."""

    table: ScoreTable
    means: Means

    def mean(self, column: str, at: int) -> Estimate:
        """Return the mean of a column under a setting."""
        return estimate(self.means.of(column)[:, at])

    def ratio(self, column: str, pair: Pair) -> Estimate:
        """Return the mean of a column without the gate, divided by that with the gate."""
        return estimate(self._ratio(column, pair))

    def ratio_difference(self, column: str, pair: Pair, other: Pair) -> Estimate:
        """Return the paired difference of the ratios of two policies."""
        return difference(self._ratio(column, pair) - self._ratio(column, other))

    def change(self, column: str, at: int, other: int) -> Estimate:
        """Return the paired difference of a column's means under two settings."""
        means = self.means.of(column)
        return difference(means[:, at] - means[:, other])

    def change_from_random(self, column: str, pair: Pair, alone: int, share: float) -> Estimate:
        """Return the change from a random choice of that share of the questions with the policy.

        The others are answered by the setting ``alone``; the choice has its expected value.
        """
        means = self.means.of(column)
        random = share * means[:, pair.without] + (1 - share) * means[:, alone]
        return difference(means[:, pair.behind] - random)

    def _ratio(self, column: str, pair: Pair) -> Floats:
        """Return the ratio of the means; not a number where the divisor is 0."""
        means = self.means.of(column)
        behind = means[:, pair.behind]
        return means[:, pair.without] / np.where(behind > 0, behind, np.nan)

    def of(self, label: str, value: str) -> "Measurements":
        """Return the same over the questions with that value of a label."""
        return measurements_of(
            self.table.of([dict(each.labels).get(label) == value for each in self.table.questions])
        )


@dataclass(frozen=True, slots=True, eq=False)
class GatedEvaluation:
    """An evaluation of policies without a gate and with the gate."""

    results: Results
    measurements: Measurements
    pairs: tuple[Pair, ...]
    alone: int
    """The position of the setting that never retrieves."""

    def judged(self) -> dict[str, GateJudged]:
        """Return the gate's decision on each question, which is the same for every policy."""
        found: dict[str, GateJudged] = {}
        for each in self.results.predictions:
            if each.gate is not None:
                found.setdefault(each.question_id, each.gate)
        return found

    def rows(self, cells: Callable[[int], Iterable[Cell]]) -> tuple[tuple[Cell, ...], ...]:
        """Return a row of never retrieving, and of every policy without and with the gate.

        ``cells`` returns those of a setting, which follow the policy and the gate.
        """
        named = [("no_retrieval", "-", self.alone)]
        for each in self.pairs:
            named += [(each.policy, "without", each.without), (each.policy, "with", each.behind)]
        return tuple((text(name), text(gate), *cells(at)) for name, gate, at in named)


@lru_cache(maxsize=2)
def read_gated(folder: Path) -> GatedEvaluation:
    """Return the evaluation in a folder.

    Raises:
        InvalidRequest: it is unfinished, or no policy in it has a gate.
        NotFound: there is no evaluation.
        DataCorrupt: a file is damaged; names the folder and the file.
    """
    results = read_finished(folder)
    pairs, alone = _pairs(results.evaluation.settings)
    if not pairs or alone is None:
        lacking = "must have no_retrieval, and policies without a gate and with the gate"
        raise InvalidRequest.of("DIR", f"{folder} {lacking}")
    return GatedEvaluation(results, measurements_of(measured(results)), pairs, alone)


def measured(results: Results) -> ScoreTable:
    """Return the scores of an evaluation by F1 and by the measures of GECE's authors."""
    kind = replace(kind_of(results.evaluation.dataset.name), measures=MEASURES)
    questions = {each.id: each for each in results.questions}
    scores = (score_of(questions[each.question_id], each, kind) for each in results.predictions)
    return table_of(results, scores)


def measurements_of(table: ScoreTable) -> Measurements:
    """Return the means of a table with bootstrap samples, by the same seed for every table."""
    return Measurements(table, resampled_means(table, seed=0))


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
