"""The frontier of a policy: the best score for a cost, over its settings and their mixtures.

A mixture of two settings, one for a part of the questions and the other for the rest, lies on the
line between the two, so the upper hull of the settings bounds the scores of a policy (the convex
hull of Provost and Fawcett, 2001, with costs instead of false positives). The frontier ends at the
cheapest and the most expensive setting.
"""

import numpy as np
from numpy.typing import NDArray

from scaar.evaluator.statistics.table import Floats

Flags = NDArray[np.bool_]


def upper_hull(spent: Floats, scores: Floats) -> Flags:
    """Return for each sample which settings (columns) are vertices of the upper hull.

    The hull goes from the cheapest setting to the most expensive one by the steepest slopes, even
    if these fall. Of settings with equal cost only the best one can be a vertex.
    """
    samples = np.arange(len(spent))
    on = np.zeros(spent.shape, dtype=bool)
    cheapest = spent == spent.min(axis=1, keepdims=True)
    at = np.where(cheapest, scores, -np.inf).argmax(axis=1)
    for _ in range(spent.shape[1]):
        on[samples, at] = True
        costlier = spent > spent[samples, at][:, np.newaxis]
        run = np.where(costlier, spent - spent[samples, at][:, np.newaxis], 1.0)
        slope = np.where(costlier, (scores - scores[samples, at][:, np.newaxis]) / run, -np.inf)
        steepest = slope == slope.max(axis=1, keepdims=True)
        farthest = np.where(steepest & costlier, spent, -np.inf).argmax(axis=1)
        at = np.where(costlier.any(axis=1), farthest, at)
    return on


def score_at(spent: Floats, scores: Floats, on: Flags, *, at: float) -> Floats:
    """Return for each sample the score at the cost ``at`` on the line through the settings ``on``.

    Not a number outside the range of the line.
    """
    x, y = _line(spent, scores, on)
    reached = (x[:, 0] <= at) & (x[:, -1] >= at)
    left = np.maximum((x <= at).sum(axis=1) - 1, 0)
    right = np.minimum(left + 1, x.shape[1] - 1)
    samples = np.arange(len(x))
    found = _between(x[samples, left], y[samples, left], x[samples, right], y[samples, right], at)
    return np.where(reached, found, np.nan)


def mean_height(spent: Floats, scores: Floats, on: Flags, *, low: Floats, high: Floats) -> Floats:
    """Return for each sample the mean height of the line from ``low`` to ``high``.

    The unit is that of the scores. Not a number if the line does not cover the range, or if the
    range is empty.
    """
    x, y = _line(spent, scores, on)
    reached = (x[:, 0] <= low) & (x[:, -1] >= high) & (low < high)
    area = np.zeros(len(x))
    for i in range(x.shape[1] - 1):
        ends = (x[:, i], y[:, i], x[:, i + 1], y[:, i + 1])
        start, end = np.maximum(ends[0], low), np.minimum(ends[2], high)
        height = (_between(*ends, start) + _between(*ends, end)) / 2
        area += np.where(start < end, (end - start) * height, 0.0)
    return np.where(reached, area / np.where(reached, high - low, 1.0), np.nan)


def _line(spent: Floats, scores: Floats, on: Flags) -> tuple[Floats, Floats]:
    """Return the points of the line in order of cost; the last one fills the remaining places."""
    order = np.where(on, spent, np.inf).argsort(axis=1, kind="stable")
    last = on.sum(axis=1, keepdims=True) - 1
    order = np.take_along_axis(order, np.minimum(np.arange(on.shape[1]), last), axis=1)
    return np.take_along_axis(spent, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _between(x0: Floats, y0: Floats, x1: Floats, y1: Floats, at: Floats | float) -> Floats:
    """Return the height at ``at`` of the line between two points; the first one's if equal."""
    sloped = x1 > x0
    part = (at - x0) / np.where(sloped, x1 - x0, 1.0)
    return np.where(sloped, y0 + part * (y1 - y0), y0)
