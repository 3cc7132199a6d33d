"""The choice of a policy's setting among its candidates."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scaar.evaluator.statistics.means import Means, SplitMeans
from scaar.evaluator.statistics.table import Floats

RETRIEVALS = "retrievals"
_EQUAL = 1e-12
"""The tolerance for rounding differences of equal means."""


def chosen(means: Means, candidates: Sequence[int], *, measure: str) -> NDArray[np.intp]:
    """Return for each sample the candidate with the best mean; ties go to fewer retrievals.

    Of candidates equal in both, the first is chosen. Candidates and results are positions among the
    settings.
    """
    at = np.asarray(candidates, dtype=np.intp)
    scores, retrievals = means.of(measure)[:, at], means.of(RETRIEVALS)[:, at]
    best = scores >= scores.max(axis=1, keepdims=True) - _EQUAL
    cost = np.where(best, retrievals, np.inf)
    fewest = cost <= cost.min(axis=1, keepdims=True) + _EQUAL
    return np.asarray(at[fewest.argmax(axis=1)], dtype=np.intp)


def of_chosen(
    splits: SplitMeans, candidates: Sequence[int], *, column: str, measure: str
) -> Floats:
    """Return the test split's mean of a column for the setting chosen on the development split.

    Every sample has its own choice, so that an interval includes the uncertainty of the choice.
    """
    at = chosen(splits.development, candidates, measure=measure)
    return np.take_along_axis(splits.test.of(column), at[:, np.newaxis], axis=1)[:, 0]
