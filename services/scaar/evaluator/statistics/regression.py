"""Logistic regression with a ridge penalty, fitted by Newton's method."""

from dataclasses import dataclass

import numpy as np

from scaar.evaluator.statistics.table import Floats

RIDGE = 1.0
"""Ridge penalty, so that perfectly separable labels have finite coefficients."""
_STEPS = 100
_PRECISION = 1e-10
_LARGEST = 500.0
"""Largest logit, so that its exponential is finite."""


@dataclass(frozen=True, slots=True, eq=False)
class LogisticFit:
    """A logistic model: intercept + sum of coefficients * (features - means) / scales.

    The scale of a feature that never varies is 1.
    """

    means: Floats
    scales: Floats
    coefficients: Floats
    intercept: float

    def logits(self, features: Floats) -> Floats:
        """Return the logit of every case; ``features`` are cases by features."""
        scaled = (features - self.means) / self.scales
        return np.asarray(self.intercept + scaled @ self.coefficients)

    def unscaled(self) -> tuple[float, tuple[float, ...]]:
        """Return bias and weights of the same model over the features as they are."""
        weights = self.coefficients / self.scales
        return float(self.intercept - weights @ self.means), tuple(map(float, weights))


def significant(number: float, *, digits: int = 6) -> float:
    """Return a fitted number with few digits, so that its file is small and reproducible."""
    return float(f"{number:.{digits}g}")


def fit_logistic(features: Floats, truths: Floats, *, penalty: float = RIDGE) -> LogisticFit:
    """Return the model with the highest penalized likelihood; the intercept is not penalized.

    ``features`` are cases by features, ``truths`` 0 or 1 for every case, and ``penalty`` is that of
    the squared coefficients.
    """
    means, spread = features.mean(axis=0), features.std(axis=0)
    scales = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - means) / scales])
    ridge = np.diag([0.0, *[penalty] * features.shape[1]])
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(design @ found, -_LARGEST, _LARGEST)))
        slope = design.T @ (likely - truths) + ridge @ found
        curve = (design * (likely * (1 - likely))[:, None]).T @ design + ridge
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(found)), slope)
        found -= step
        if np.abs(step).max() < _PRECISION:
            break
    return LogisticFit(means, scales, found[1:], float(found[0]))
