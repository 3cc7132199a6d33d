"""Estimates with intervals, ratios, and differences with p-values, also corrected by Holm (1979).

Percentile bootstrap (Efron, 1979); the p-value is the smallest level whose interval excludes 0,
with the observed value counted among the samples (Davison and Hinkley, 1997, section 4.2.3).

A statistic is an array: its value, and then its value in every bootstrap sample.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scaar.evaluator.statistics.table import Floats

CONFIDENCE = 0.95
MAX_UNDEFINED = 0.05
"""The maximum share of samples with an undefined statistic; above it there is no interval."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with the bounds of its interval, in its own unit.

    ``value`` is None if the statistic is undefined. The bounds are None if the statistic is
    undefined in more than one bootstrap sample of twenty, as at the end of the range of a policy.
    ``p`` tests the hypothesis that a difference is 0.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Both bounds of the interval, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Corrected(Estimate):
    """A difference among several; ``holm`` is ``p``, corrected for their number."""

    holm: float | None = None


def estimate(statistic: Floats, *, confidence: float = CONFIDENCE) -> Estimate:
    """Return a statistic with its percentile interval; not a number is undefined."""
    if not 0 < confidence < 1:
        raise ValueError(f"the confidence must be in (0, 1), not {confidence:g}")
    value, samples = float(statistic[0]), statistic[1:]
    if math.isnan(value):
        return Estimate(None)
    defined = samples[~np.isnan(samples)]
    if len(defined) < len(samples) * (1 - MAX_UNDEFINED):
        return Estimate(value)
    outside = (1 - confidence) / 2
    low, high = np.quantile(defined, (outside, 1 - outside))
    return Estimate(value, float(low), float(high))


def difference(statistic: Floats) -> Estimate:
    """Return the estimate of a paired difference, with the two-sided p-value of 0."""
    found = estimate(statistic)
    return found if found.low is None else replace(found, p=p_value(statistic[1:]))


def p_value(samples: Floats) -> float:
    """Return the two-sided p-value of 0 from the samples with a defined difference."""
    defined = samples[~np.isnan(samples)]
    below, above = (defined <= 0).sum(), (defined >= 0).sum()
    return float(min(1.0, 2 * (1 + min(below, above)) / (1 + len(defined))))


def differences(statistics: Iterable[Floats]) -> tuple[Corrected, ...]:
    """Return the estimates of paired differences; those without a p-value do not count."""
    found = [difference(each) for each in statistics]
    p_values = iter(holm([each.p for each in found if each.p is not None]))
    return tuple(
        Corrected(x.value, x.low, x.high, x.p, None if x.p is None else next(p_values))
        for x in found
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values, corrected for their number.

    In ascending order the k-th of m (from 0) is multiplied by m - k; it is at least the previous
    one and at most 1. Raises ValueError for a p-value outside [0, 1].
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must be in [0, 1], not {p:g}")
    adjusted, lowest = [0.0] * len(p_values), 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        lowest = max(lowest, min(1.0, (len(p_values) - done) * p_values[at]))
        adjusted[at] = lowest
    return adjusted


def s_eff(scores: Floats, without_retrieval: Floats, retrievals: Floats) -> Floats:
    """Return S_eff: 100 times the gain over no retrieval, per retrieval (SCAAR, section 4).

    ``scores`` are in [0, 1], ``retrievals`` per question. The unit is points per retrieval. Not a
    number without retrievals. S_eff rewards rare triggers, so compare the frontier too.
    """
    undefined = np.where(retrievals > 0, retrievals, np.nan)
    return np.asarray(100 * (scores - without_retrieval) / undefined, dtype=np.float64)


def share(part: Floats, whole: Floats) -> Floats:
    """Return the share of a whole in [0, 1]; not a number if the whole is 0."""
    return np.asarray(part / np.where(whole > 0, whole, np.nan), dtype=np.float64)
