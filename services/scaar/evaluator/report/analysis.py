"""The scores of an evaluation, resampled, as every part of a report needs them."""

from collections.abc import Callable
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.core.types import EffectivePolicy
from scaar.evaluator.report.model import ReportOptions
from scaar.evaluator.results import Evaluation, Results
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.splits import split_questions
from scaar.evaluator.statistics.estimate import (
    Corrected,
    Estimate,
    difference,
    differences,
    estimate,
)
from scaar.evaluator.statistics.means import SplitMeans, SplitTable, split_table
from scaar.evaluator.statistics.selection import chosen
from scaar.evaluator.statistics.table import Floats, ScoreTable, TableBuilder
from scaar.evaluator.statistics.variants import PolicyVariant, in_force, policy_variants

Statistic = Callable[[SplitMeans], Floats]
"""A function that computes a value for every bootstrap sample."""

_REFERENCES = ("scaar", "flare")


@dataclass(frozen=True, slots=True)
class Compared:
    """A policy's difference from the reference, its p-value corrected over all policies."""

    variant: PolicyVariant
    difference: Corrected


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """The scores of an evaluation, ready for every statistic of a report."""

    evaluation: Evaluation
    options: ReportOptions
    table: ScoreTable
    splits: SplitTable
    means: SplitMeans
    variants: tuple[PolicyVariant, ...]
    policies: tuple[EffectivePolicy | None, ...]
    """The policy in force for each setting; None if the evaluation does not record it."""
    measure: str
    reference: PolicyVariant

    def estimate(self, statistic: Statistic) -> Estimate:
        """Return a statistic with its interval."""
        return estimate(statistic(self.means))

    def difference(self, statistic: Statistic, other: Statistic) -> Estimate:
        """Return the paired difference of two statistics on the same questions."""
        return difference(statistic(self.means) - other(self.means))

    def compare(self, statistic_of: Callable[[PolicyVariant], Statistic]) -> tuple[Compared, ...]:
        """Return the difference of every other policy from the reference, corrected by Holm."""
        others = [each for each in self.variants if each != self.reference]
        own = statistic_of(self.reference)(self.means)
        found = differences(statistic_of(each)(self.means) - own for each in others)
        return tuple(map(Compared, others, found))

    def chosen(self, variant: PolicyVariant) -> int:
        """Return the position of the setting chosen for a policy on the development split."""
        means = self.means.development
        return int(chosen(means, variant.candidates, measure=self.measure)[0])

    @property
    def without_retrieval(self) -> int | None:
        """The position of the setting that never retrieves, or None."""
        names = [setting.policy.name for setting in self.table.settings]
        return names.index("no_retrieval") if "no_retrieval" in names else None


def analyse(
    evaluation: Evaluation, table: ScoreTable, options: ReportOptions | None = None
) -> Analysis:
    """Return the analysis of a table of an evaluation's scores.

    Raises:
        InvalidRequest: the measure or the reference is unknown, or resamples are fewer than 100.
    """
    options = options or ReportOptions()
    found = policy_variants(table.settings)
    names = [each.name for each in found]
    reference = options.reference or next((n for n in _REFERENCES if n in names), names[-1])
    measure = options.measure or ("f1" if "f1" in table.measures else table.measures[0])
    for field, name, known in (
        ("reference", reference, names),
        ("measure", measure, table.measures),
    ):
        if name not in known:
            raise InvalidRequest.of(field, f"must be one of {', '.join(known)}, not {name!r}")
    if options.resamples < 100:
        raise InvalidRequest.of("resamples", f"must be at least 100, not {options.resamples}")
    splits = split_table(table, tested=_tested(evaluation, table))
    return Analysis(
        *(evaluation, options, table, splits),
        means=splits.means(seed=options.seed, resamples=options.resamples),
        variants=found,
        policies=in_force(table.settings, evaluation.provenance),
        measure=measure,
        reference=found[names.index(reference)],
    )


def analyse_results(results: Results, options: ReportOptions | None = None) -> Analysis:
    """Return the analysis of all stored predictions.

    Raises:
        InvalidRequest: as of :func:`analyse`.
    """
    builder = TableBuilder(results.questions, results.evaluation.settings)
    for score in scores_of(results, options.measure if options else None):
        builder.add_score(score)
    for prediction in results.predictions:
        builder.add_prediction(prediction)
    return analyse(results.evaluation, builder.build(), options)


def _tested(evaluation: Evaluation, table: ScoreTable) -> frozenset[str]:
    """The ids of the test split: the questions that no threshold was placed on."""
    if evaluation.grid is not None:
        return frozenset(evaluation.grid.test)
    halves = split_questions(table.questions, seed=evaluation.dataset.seed)
    return frozenset(question.id for question in halves.test)
