"""Comparison of formulations: estimates, and paired differences corrected by Holm."""

from collections.abc import Sequence
from functools import cached_property

from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.statistics.estimate import Corrected, Estimate, differences, estimate
from scaar.evaluator.statistics.means import Means, resampled_means
from scaar.evaluator.statistics.table import Floats, ScoreTable
from scaar.evaluator.studies.queries.formulations import Exclusion, FormulationVariant
from scaar.evaluator.studies.queries.records import QueryEvaluation
from scaar.evaluator.studies.queries.scores import TERMS

PER_TERMS = 10
"""Recall per term is small; it is reported for this number of terms."""


class FormulationComparison:
    """The means of a run over its questions, with bootstrap samples."""

    def __init__(
        self, evaluation: QueryEvaluation, table: ScoreTable, *, resamples: int = RESAMPLES
    ) -> None:
        self.evaluation = evaluation
        self.table = table
        self.resamples = resamples
        self.labels = tuple(each.label for each in evaluation.variants)

    def estimates(self, column: str) -> tuple[Estimate, ...]:
        """Return the mean of a column for each label, with its interval."""
        return self._each(self._means.of(column))

    def per_terms(self, column: str) -> tuple[Estimate, ...]:
        """Return the mean of a column per :data:`PER_TERMS` words of query for each label."""
        return self._each(_per_terms(self._means, column))

    def differences(
        self, pairs: Sequence[tuple[str, str]], column: str, *, per_terms: bool = False
    ) -> tuple[Corrected, ...]:
        """Return the first label of each pair minus the second, corrected over all pairs."""
        means = (_per_terms if per_terms else Means.of)(self._means, column)
        own = {label: means[:, at] for at, label in enumerate(self.labels)}
        return differences(own[one] - own[other] for one, other in pairs)

    def to_reference(self, reference: str) -> tuple[tuple[str, str], ...]:
        """Return pairs of every other label with the reference."""
        return tuple((label, reference) for label in self.labels if label != reference)

    def to_controls(self) -> tuple[tuple[str, str], ...]:
        """Return pairs of a formulation by the scorer itself with the same by a control."""
        own = {each.label for each in self.evaluation.variants if each.scorer is None}
        pairs = [
            (itself(each), each.label)
            for each in self.evaluation.variants
            if each.scorer is not None
        ]
        return tuple(pair for pair in pairs if pair[0] in own)

    def to_exclusions(self) -> tuple[tuple[str, str], ...]:
        """Return pairs of a formulation that excludes seen passages with the same without."""
        return tuple(
            (each.label, other)
            for each in self.evaluation.variants
            if each.exclusion is Exclusion.SEEN
            for exclusion in (Exclusion.NONE, Exclusion.MATCHED_DEPTH)
            if (other := each.excluding(exclusion).label) in self.labels
        )

    @cached_property
    def _means(self) -> Means:
        seed = self.evaluation.dataset.seed
        return resampled_means(self.table, seed=seed, resamples=self.resamples)

    def _each(self, means: Floats) -> tuple[Estimate, ...]:
        return tuple(estimate(each) for each in means.T)


def itself(asking: FormulationVariant) -> str:
    """Return the label of the same formulation by the scorer itself."""
    return asking.by(None).label


def _per_terms(means: Means, column: str) -> Floats:
    return PER_TERMS * means.of(column) / means.of(TERMS)
