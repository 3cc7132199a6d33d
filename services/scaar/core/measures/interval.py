"""The interval of a mean by the percentile bootstrap (Efron, 1979), over clusters of values.

Whole clusters are drawn with replacement, so that what belongs together, such as the questions
about one entity, counts as one observation.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from random import Random

RESAMPLES = 2_000


def interval(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """The lower and the upper bound of the mean; the same for the same seed.

    ``clusters`` names the cluster of each value.

    Raises:
        ValueError: no values, not a cluster for each, or a confidence outside (0, 1).
    """
    if not values or len(values) != len(clusters):
        raise ValueError(f"{len(values)} values and {len(clusters)} clusters")
    if not 0 < confidence < 1:
        raise ValueError(f"the confidence must be in (0, 1), not {confidence:g}")
    sums: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0])
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster][0] += value
        sums[cluster][1] += 1
    drawn, chance = list(sums.values()), Random(seed)
    means = []
    for _ in range(resamples):
        total, count = map(sum, zip(*chance.choices(drawn, k=len(drawn)), strict=True))
        means.append(total / count)
    means.sort()
    outside = (1 - confidence) / 2
    return means[int(outside * resamples)], means[-1 - int(outside * resamples)]
