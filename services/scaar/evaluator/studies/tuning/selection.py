"""The choice of a candidate: the simplest within one standard error of the best.

The rule is that of Breiman et al. (1984) for trees. The questions about an entity are one cluster,
and the standard error of a mean over questions is that of the sums of the clusters.
"""

from collections.abc import Sequence

import numpy as np

from scaar.evaluator.statistics.estimate import Estimate, estimate
from scaar.evaluator.statistics.table import Floats

RESAMPLES = 2_000


def standard_error(values: Floats, clusters: Sequence[str]) -> float:
    """Return the cluster-robust standard error of the mean."""
    _, at = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(at, values - values.mean())
    groups = len(sums)
    if groups < 2:
        return 0.0
    return float(np.sqrt((sums**2).sum() * groups / (groups - 1)) / len(values))


def clustered_mean(values: Floats, clusters: Sequence[str], *, seed: int = 0) -> Estimate:
    """Return the mean with its 95% interval over bootstrap samples of whole clusters."""
    _, at = np.unique(np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(at, values), np.bincount(at).astype(np.float64)
    groups = len(sums)
    drawn = np.random.default_rng(seed).multinomial(groups, [1 / groups] * groups, RESAMPLES)
    return estimate(np.append(values.mean(), (drawn @ sums) / (drawn @ sizes)))


def chosen(qualities: Floats, clusters: Sequence[str], costs: Sequence[float]) -> int:
    """Return the position of the chosen candidate.

    ``qualities`` are candidates by questions. Of the candidates whose mean is within one standard
    error of the best mean, the one with the lowest cost is chosen, of equal ones the best.
    """
    means = qualities.mean(axis=1)
    within = [at for at, each in enumerate(near_best(qualities, clusters)) if each]
    return min(within, key=lambda at: (costs[at], -means[at], at))


def near_best(qualities: Floats, clusters: Sequence[str]) -> list[bool]:
    """Return for each candidate whether it is within one standard error of the best."""
    means = qualities.mean(axis=1)
    best = int(means.argmax())
    limit = means[best] - standard_error(qualities[best], clusters)
    return [bool(mean >= limit) for mean in means]
