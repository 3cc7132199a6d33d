"""The cost model: what a call, a token, a search and a scored sentence cost in time.

    ms = c0 calls + c1 tokens read + c2 tokens written + c3 searches + c4 scored sentences

The coefficients are fitted to the times of a deployment, each part to its own: generation by calls
and tokens, retrieval by searches, and scoring by scored sentences.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from scaar.evaluator.statistics.cost_units import PARTS, SEARCHES
from scaar.evaluator.statistics.table import Floats


@dataclass(frozen=True, slots=True)
class CostModel:
    """The time of each unit of usage in ms, and the share of the variance that a part explains."""

    coefficients: Mapping[str, float]
    explained: Mapping[str, float]

    def times(self, *, search_ms: float, slowdown: float) -> Mapping[str, float]:
        """Return the coefficients for another time of a search and a slower model."""
        model = {name: slowdown * self.coefficients[name] for name in PARTS["generation_ms"]}
        return {**self.coefficients, **model, SEARCHES: search_ms}


def fit(column: Callable[[str], Floats]) -> CostModel:
    """Return the cost model of timed answers, by least squares without negative times.

    ``column`` returns the values of a column of usage or time.
    """
    coefficients: dict[str, float] = {}
    explained: dict[str, float] = {}
    for part, columns in PARTS.items():
        usage = np.stack([column(name).ravel() for name in columns], axis=1)
        times = column(part).ravel()
        found = _not_negative(usage, times)
        coefficients |= dict(zip(columns, map(float, found), strict=True))
        variance = float(((times - times.mean()) ** 2).sum())
        left = float(((times - usage @ found) ** 2).sum())
        explained[part] = 1 - left / variance if variance else 1.0
    return CostModel(coefficients, explained)


def _not_negative(usage: Floats, times: Floats) -> Floats:
    """Return the coefficients of least squares among those without a negative one."""
    best, least = np.zeros(usage.shape[1]), float((times**2).sum())
    for size in range(1, usage.shape[1] + 1):
        for columns in itertools.combinations(range(usage.shape[1]), size):
            found = np.linalg.lstsq(usage[:, columns], times, rcond=None)[0]
            left = float(((times - usage[:, columns] @ found) ** 2).sum())
            if (found >= 0).all() and left < least:
                best, least = np.zeros(usage.shape[1]), left
                best[list(columns)] = found
    return best
