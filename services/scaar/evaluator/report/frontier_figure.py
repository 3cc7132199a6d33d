"""Figures of scores against cost: every setting, and the frontier of each policy."""

from dataclasses import replace

import numpy as np

from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import measure_title
from scaar.evaluator.report.model import Figure, Point, Section, Series
from scaar.evaluator.statistics.estimate import Estimate, estimate
from scaar.evaluator.statistics.matched import SEARCHES, TOKENS, frontier
from scaar.evaluator.statistics.variants import PolicyVariant


def draw_frontiers(analysis: Analysis) -> Section | None:
    """Return figures against searches and against tokens; None for a single setting."""
    if len(analysis.table.settings) < 2:
        return None
    return Section(
        "Score against cost",
        (
            _figure(analysis, "frontier_retrievals", "searches", SEARCHES),
            _figure(analysis, "frontier_tokens", "prompt and generated tokens", TOKENS),
        ),
    )


def _figure(analysis: Analysis, name: str, cost: str, spent: tuple[str, ...]) -> Figure:
    title = measure_title(analysis.measure)
    series = tuple(
        replace(_series(analysis, each, spent), hue=hue)
        for hue, each in enumerate(analysis.variants)
    )
    reach = [
        f"{each.name} from {each.line[0][1]:.3f} at {each.line[0][0]:.4g} "
        f"to {each.line[-1][1]:.3f} at {each.line[-1][0]:.4g}"
        for each in series
    ]
    return Figure(
        name,
        f"{title} against {cost}",
        # The whole cost would be cut at the width of a phone.
        f"{cost.split()[-1]} per question",
        title,
        series,
        alternative=(
            f"Mean {title} and mean number of {cost} per question of every setting on the test "
            "split, with 95% intervals, and a line along the frontier of each policy: "
            f"{'; '.join(reach)}."
        ),
    )


def _series(analysis: Analysis, variant: PolicyVariant, spent: tuple[str, ...]) -> Series:
    points = []
    for at in variant.candidates:
        x, y = (_mean(analysis, at, columns) for columns in (spent, (analysis.measure,)))
        label = analysis.table.settings[at].label
        points.append(Point(x.value or 0.0, y.value or 0.0, x.bounds, y.bounds, label))
    line = frontier(analysis.means, variant.candidates, measure=analysis.measure, spent=spent)
    corners = sorted((points[at].x, points[at].y) for at in np.flatnonzero(line.on[0]))
    return Series(variant.name, tuple(points), tuple(corners))


def _mean(analysis: Analysis, at: int, columns: tuple[str, ...]) -> Estimate:
    test = analysis.means.test
    return estimate(np.sum([test.of(column)[:, at] for column in columns], axis=0))
