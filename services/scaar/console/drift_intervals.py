"""95% intervals of the figures of the drift page, from sums over the answers of a group."""

import math
from dataclasses import dataclass
from statistics import NormalDist

from scaar.console.number_text import share_of
from scaar.core.records import RecordGroup

MIN_ANSWERS = 10
"""Number of answers below which a variance is not estimated: there is no interval."""
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval, in the unit of its figure."""

    low: float
    high: float

    def has(self, value: float) -> bool:
        """Return whether a value is in the interval."""
        return self.low <= value <= self.high

    def times(self, factor: float) -> "Interval":
        """Return the interval in another unit."""
        return Interval(self.low * factor, self.high * factor)


def wilson(share: float, number: float) -> Interval:
    """Return the interval of a share of independent cases (Wilson, JASA 1927)."""
    squared = _Z * _Z
    middle = (share + squared / (2 * number)) / (1 + squared / number)
    spread = math.sqrt(share * (1 - share) / number + squared / (4 * number * number))
    half = _Z * spread / (1 + squared / number)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def mean_interval(mean: float, squares: float, number: int) -> Interval | None:
    """Return the normal interval of a mean that cannot be negative, from the sum of the squares."""
    if number < MIN_ANSWERS:
        return None
    variance = max(0.0, squares - number * mean * mean) / (number - 1)
    half = _Z * math.sqrt(variance / number)
    return Interval(max(0.0, mean - half), mean + half)


@dataclass(frozen=True, slots=True)
class Clustered:
    """Parts of wholes in answers: sums of both, and of their squares and products."""

    part: int
    whole: int
    part_squared: int
    whole_squared: int
    product: int


def clustered_interval(sums: Clustered, answers: int) -> Interval | None:
    """Return the interval of a share whose cases are clustered in answers.

    The cases of an answer depend on each other, so they count as fewer: Wilson's interval of the
    effective number of cases, which has the variance of the ratio of the sums over answers (Korn
    and Graubard, 1998, with the variance of Cochran, 1977, for a ratio).
    """
    share = share_of(sums.part, sums.whole)
    if share is None or answers < MIN_ANSWERS:
        return None
    residuals = sums.part_squared - 2 * share * sums.product + share * share * sums.whole_squared
    variance = answers / (answers - 1) * max(0.0, residuals) / sums.whole**2
    if variance == 0.0:
        # All cases are alike: nothing shows how they depend on each other within an answer.
        return wilson(share, min(answers, sums.whole))
    return wilson(share, min(share * (1 - share) / variance, sums.whole))


def trigger_rate_interval(group: RecordGroup) -> Interval | None:
    """Return the interval of the uncertain share of the judged drafts."""
    if (moments := group.moments) is None:
        return None
    sums = Clustered(
        group.uncertain_drafts,
        group.judged_drafts,
        moments.uncertain_squared,
        moments.judged_squared,
        moments.judged_uncertain,
    )
    return clustered_interval(sums, group.answers)


def degraded_interval(group: RecordGroup) -> Interval | None:
    """Return the interval of the degraded share of the accepted sentences."""
    if (moments := group.moments) is None:
        return None
    sums = Clustered(
        group.degraded_sentences,
        group.sentences,
        moments.degraded_squared,
        moments.sentences_squared,
        moments.sentences_degraded,
    )
    return clustered_interval(sums, group.answers)


def failed_interval(group: RecordGroup) -> Interval | None:
    """Return the interval of the failed share of the answers."""
    if group.answers < MIN_ANSWERS:
        return None
    return wilson(group.failed / group.answers, group.answers)


def retrievals_interval(group: RecordGroup) -> Interval | None:
    """Return the interval of the mean number of retrievals of an answer."""
    mean = share_of(group.retrievals, group.answers)
    if mean is None or group.moments is None:
        return None
    return mean_interval(mean, group.moments.retrievals_squared, group.answers)


def probability_interval(group: RecordGroup) -> Interval | None:
    """Return the interval of the mean P'."""
    mean, moments = group.mean_probability, group.moments
    if mean is None or moments is None:
        return None
    return mean_interval(mean, moments.probability_squared, moments.with_probability)


def latency_interval(group: RecordGroup) -> Interval | None:
    """Return the interval of the mean latency, in ms."""
    if group.moments is None:
        return None
    return mean_interval(group.mean_latency_ms, group.moments.latency_squared, group.answers)
