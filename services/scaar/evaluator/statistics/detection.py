"""How well a score detects what is true: AUROC, the share caught, calibration; with intervals."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scaar.evaluator.statistics.estimate import Estimate, estimate
from scaar.evaluator.statistics.table import Floats

RESAMPLES = 1_000
FALSE_ALARMS = 0.05
"""Share of false cases above the threshold at which the share caught is measured."""
BINS = 10

Truths = NDArray[np.bool_]
Samples = Sequence[NDArray[np.intp]]
"""Bootstrap samples, as positions."""
Measure = Callable[[Floats, Truths], float]


def auroc(scores: Floats, truths: Truths) -> float:
    """Return how often a true case scores above a false one; ties count one half.

    Not a number if one of the two is empty.
    """
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, side="left")
    ranks = (below + np.searchsorted(ordered, scores, side="right") + 1) / 2
    positive = int(truths.sum())
    pairs = positive * (len(truths) - positive)
    if not pairs:
        return math.nan
    return float((ranks[truths].sum() - positive * (positive + 1) / 2) / pairs)


def ranks(scores: Floats) -> Floats:
    """Return the mid-ranks of scores in (0, 1)."""
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, side="left")
    return (below + np.searchsorted(ordered, scores, side="right")) / (2 * len(scores))


def caught(scores: Floats, truths: Truths) -> float:
    """Return the share of true cases above the threshold of 5% false alarms.

    Cases that tie at the threshold count in part, for the same part of the false ones. Not a
    number if there is no true or no false case.
    """
    true, false = scores[truths], scores[~truths]
    if not len(true) or not len(false):
        return math.nan
    edge = np.sort(false)[::-1][int(FALSE_ALARMS * len(false))]
    left = FALSE_ALARMS * len(false) - (false > edge).sum()
    part = left / (false == edge).sum()
    return float(((true > edge).sum() + part * (true == edge).sum()) / len(true))


def calibration_error(probabilities: Floats, truths: Truths) -> float:
    """Return the expected calibration error, over ten bins of equal width (Guo et al., 2017).

    Not a number without a case.
    """
    if not len(truths):
        return math.nan
    bins = np.minimum((probabilities * BINS).astype(np.intp), BINS - 1)
    gaps = np.bincount(bins, probabilities - truths, minlength=BINS)
    return float(np.abs(gaps).sum() / len(truths))


def share_of_true(flags: Floats, truths: Truths) -> float:
    """Return the share of flagged cases among the true ones; not a number if there are none."""
    return float(flags[truths].mean()) if truths.any() else math.nan


def share_of_false(flags: Floats, truths: Truths) -> float:
    """Return the share of flagged cases among the false ones; not a number if there are none."""
    return share_of_true(flags, ~truths)


def estimated(measure: Measure, scores: Floats, truths: Truths, samples: Samples) -> Estimate:
    """Return a measure with its interval over the samples; without samples, the value alone."""
    value = measure(scores, truths)
    if not samples:
        return Estimate(None if math.isnan(value) else value)
    found = (measure(scores[each], truths[each]) for each in samples)
    return estimate(np.array([value, *found]))


def entity_draws(
    entities: Sequence[str], truths: Truths, *, seed: int = 0
) -> tuple[NDArray[np.intp], ...]:
    """Return bootstrap samples of whole entities, as positions, that have both kinds."""
    if not entities:
        return ()
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for number, entity in enumerate(entities):
        positions[entity].append(number)
    groups = [np.array(each) for each in positions.values()]
    chance = np.random.default_rng(seed)
    drawn = (
        np.concatenate([groups[each] for each in chance.integers(len(groups), size=len(groups))])
        for _ in range(RESAMPLES)
    )
    return tuple(each for each in drawn if 0 < truths[each].sum() < len(each))
