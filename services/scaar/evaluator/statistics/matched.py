"""Comparison of policies at a matched budget.

The settings of a policy's frontier are chosen on the development split. Their costs and scores are
those of the test split, interpolated at the budget and never extrapolated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scaar.evaluator.statistics.frontier import Flags, mean_height, score_at, upper_hull
from scaar.evaluator.statistics.means import Means, SplitMeans
from scaar.evaluator.statistics.table import Floats

SEARCHES = ("searches",)
TOKENS = ("prompt_tokens", "generated_tokens")
MIN_SPAN = 0.25
"""The minimum length of a frontier in the common range, as a share of the longest one."""

Candidates = Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """The cost and score of a policy's candidates in every sample, and which are vertices."""

    spent: Floats
    scores: Floats
    on: Flags

    @property
    def cheapest(self) -> Floats:
        """The cost of the cheapest setting on the frontier."""
        return np.asarray(np.where(self.on, self.spent, np.inf).min(axis=1))

    @property
    def costliest(self) -> Floats:
        """The cost of the most expensive setting on the frontier."""
        return np.asarray(np.where(self.on, self.spent, -np.inf).max(axis=1))


def frontier(
    splits: SplitMeans, candidates: Candidates, *, measure: str, spent: Sequence[str]
) -> Frontier:
    """Return the frontier of a policy; the cost is the sum of the usage columns ``spent``."""
    development, test = (
        _candidates(means, candidates, measure, spent)
        for means in (splits.development, splits.test)
    )
    return Frontier(*test, on=upper_hull(*development))


def matched(splits: SplitMeans, candidates: Candidates, at: float, *, measure: str) -> Floats:
    """Return the score at a budget of searches per question; not a number out of range."""
    line = frontier(splits, candidates, measure=measure, spent=SEARCHES)
    return score_at(line.spent, line.scores, line.on, at=at)


def common_range(lines: Sequence[Frontier]) -> tuple[Floats, Floats]:
    """Return the common range of the frontiers; empty if its start exceeds its end."""
    low = np.max([line.cheapest for line in lines], axis=0)
    return low, np.min([line.costliest for line in lines], axis=0)


def long_enough(lines: Sequence[Frontier]) -> list[bool]:
    """Return which frontiers are at least a quarter as long as the longest, in the first sample."""
    spans = [float(line.costliest[0] - line.cheapest[0]) for line in lines]
    return [span > 0 and span >= MIN_SPAN * max(spans) for span in spans]


def area(
    splits: SplitMeans,
    candidates: Candidates,
    *,
    among: Sequence[Candidates],
    measure: str,
    spent: Sequence[str],
) -> Floats:
    """Return the mean height of a frontier over the common range of all ``among``.

    The unit is that of the measure. Every bootstrap sample has its own range.
    """
    lines = [frontier(splits, each, measure=measure, spent=spent) for each in among]
    low, high = common_range(lines)
    line = frontier(splits, candidates, measure=measure, spent=spent)
    return mean_height(line.spent, line.scores, line.on, low=low, high=high)


def _candidates(
    means: Means, candidates: Candidates, measure: str, spent: Sequence[str]
) -> tuple[Floats, Floats]:
    at = np.asarray(candidates, dtype=np.intp)
    total = np.sum([means.of(column)[:, at] for column in spent], axis=0)
    return np.asarray(total, dtype=np.float64), means.of(measure)[:, at]
