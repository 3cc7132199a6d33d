"""Summaries of settings: means over all questions, and the interval of the main measure."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scaar.evaluator.records import Score
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.scores import MAIN
from scaar.evaluator.statistics.estimate import Estimate, estimate, s_eff
from scaar.evaluator.statistics.means import resampled_means
from scaar.evaluator.statistics.table import FAILED, MISSING, ScoreTable, TableBuilder

WITHOUT_RETRIEVAL = "no_retrieval"


@dataclass(frozen=True, slots=True)
class Summary:
    """The means per question of a setting. Failed and missing predictions count as 0.

    ``means`` has every measure and every column of the usage; ``main`` is the main measure with its
    interval. ``efficiency`` is S_eff, in points per retrieval; None without a retrieval or without
    a setting that never retrieves.
    """

    setting: str
    main: Estimate
    means: dict[str, float]
    efficiency: float | None
    failed: int
    missing: int


def table_of(results: Results, scores: Iterable[Score]) -> ScoreTable:
    """Return the scores as a table of all questions."""
    builder = TableBuilder(results.questions, results.evaluation.settings)
    for score in scores:
        builder.add_score(score)
    return builder.build()


def main_measure(table: ScoreTable) -> str:
    """Return the measure that settings are compared by."""
    return next((name for name in MAIN if name in table.measures), table.measures[0])


def summaries(table: ScoreTable, *, seed: int = 0) -> tuple[Summary, ...]:
    """Return the summary of every setting, in order; the same for the same seed."""
    if not table.measures:
        raise ValueError("the table has no measure")
    means, measure = resampled_means(table, seed=seed), main_measure(table)
    main, retrievals = means.of(measure)[0], means.of("retrievals")[0]
    names = [each.policy.name for each in table.settings]
    without = main[names.index(WITHOUT_RETRIEVAL)] if WITHOUT_RETRIEVAL in names else np.nan
    gains = s_eff(main, np.full_like(main, without), retrievals)
    questions = len(table.questions)
    return tuple(
        Summary(
            setting=setting.label,
            main=estimate(means.of(measure)[:, at]),
            means={name: float(means.of(name)[0, at]) for name in table.columns},
            efficiency=None if np.isnan(gains[at]) else float(gains[at]),
            failed=round(float(means.of(FAILED)[0, at]) * questions),
            missing=round(float(means.of(MISSING)[0, at]) * questions),
        )
        for at, setting in enumerate(table.settings)
    )
