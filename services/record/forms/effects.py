"""Effects over forms: gains, and their slope over the rate of free words, with intervals."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from record.forms.detection import (
    FilmSamples,
    FormDetection,
    Key,
    Samples,
    Statistic,
    aurocs,
    found_shares,
)
from record.forms.plan import CONSTANT, EQUIVALENCE, POWER, RIVALS, SCORER
from scaar.evaluator.statistics.estimate import Estimate, difference


def is_main_with_free_words(detection: FormDetection) -> bool:
    """Return whether words of the form vary freely, and its facts are spread over the sentence."""
    return detection.form.free > 0 and not detection.form.padded


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect, its interval, and the smallest effect that the experiment would find."""

    estimate: Estimate
    detectable: float


def mean_over(
    detections: Sequence[FormDetection], samples: FilmSamples, key: Key, statistic: Statistic
) -> Samples:
    """Return the mean of a statistic over forms in which it is defined."""
    found = np.array([samples.of(each, key, statistic) for each in detections])
    counts = (~np.isnan(found)).sum(axis=0)
    means = np.nansum(found, axis=0) / np.maximum(counts, 1)
    return np.asarray(np.where(counts > 0, means, math.nan))


def gain(
    detections: Sequence[FormDetection],
    samples: FilmSamples,
    keys: tuple[Key, Key],
    statistic: Statistic = aurocs,
) -> Effect:
    """Return by how much the first key's mean over forms exceeds the second's."""
    first, second = (mean_over(detections, samples, key, statistic) for key in keys)
    return _effect(first - second)


def slope(
    detections: Sequence[FormDetection], samples: FilmSamples, trigger: str, arm: str
) -> Effect:
    """Return how the gain in AUROC over the constant rises with the rate of free words.

    It is the slope of a regression within forms of the same model, length, facts and padding, for
    a rate from 0 to 1.
    """
    groups: defaultdict[object, list[FormDetection]] = defaultdict(list)
    for each in detections:
        groups[each.model, each.form.words, each.form.facts, each.form.padded].append(each)
    above: list[Samples] = []
    below = 0.0
    for group in groups.values():
        rates = np.array([each.form.free for each in group])
        centred = rates - rates.mean()
        gains = np.array(
            [
                samples.of(each, (trigger, arm), aurocs)
                - samples.of(each, (trigger, CONSTANT), aurocs)
                for each in group
            ]
        )
        above.append(np.asarray(centred @ gains))
        below += float(centred @ centred)
    return _effect(np.sum(above, axis=0) / below if below else np.array([math.nan]))


def finding(detections: Sequence[FormDetection], samples: FilmSamples, trigger: str) -> str:
    """Return what the gain of the scorer shows, by the rule that was registered."""
    found = [
        gain(detections, samples, ((trigger, SCORER), (trigger, rival)), statistic)
        for statistic in (aurocs, found_shares)
        for rival in RIVALS
    ]
    over_constant = found[0].estimate
    low, high = over_constant.low, over_constant.high
    if low is None or high is None:
        return "undefined"
    if all(each.estimate.low is not None and each.estimate.low > 0 for each in found):
        return "a gain over constant, idf and content_mask"
    if low >= -EQUIVALENCE and high <= EQUIVALENCE:
        return f"no effect of {EQUIVALENCE:g}"
    return "no gain can be claimed"


def _effect(series: Samples) -> Effect:
    found = difference(series)
    spread = series[1:][~np.isnan(series[1:])]
    detectable = POWER * float(spread.std(ddof=1)) if len(spread) > 1 else math.nan
    return Effect(found, detectable)
