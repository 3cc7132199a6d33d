"""The effect of other thresholds: F1 by the share of questions that is retrieved for."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from record.longtail.deciders import Passed, decided_by
from record.longtail.gated_evaluation import GatedEvaluation, read_gated
from record.longtail.plan import LABELS, RUN
from record.longtail.tails import NAMES, check_labelled
from record.sections import PartContent
from scaar.evaluator.report.model import Figure, Point, Series
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.longtail.folder import read_labels

SHARES = tuple(tenth / 10 for tenth in range(11))
GATE, GECE = "the gate", NAMES["gece"]


def draw_thresholds(folders: Sequence[Path]) -> PartContent:
    """Return a figure for each policy, the first in full."""
    by_name = {each.name: each for each in folders}
    gated = read_gated(by_name[RUN])
    _, questions, labels = read_labels(by_name[LABELS])
    check_labelled(questions, gated.results.questions)
    order = [each.id for each in gated.measurements.table.questions]
    judged, by_id = gated.judged(), {each.question_id: each for each in labels}
    likely = {
        GATE: np.array([judged[each].probability for each in order]),
        GECE: np.array([-float(by_id[each].rank) for each in order]),
    }
    full, *folded = (_figure(gated, each.policy, each.without, likely) for each in gated.pairs)
    return PartContent((full,), tuple(folded))


def _figure(gated: GatedEvaluation, policy: str, without: int, likely: dict[str, Floats]) -> Figure:
    series = []
    for at, (name, scores) in enumerate(likely.items()):
        passed = {f"{share:g}": _first(scores, share) for share in SHARES}
        found = decided_by(gated, without, passed)
        points = []
        for place, share in enumerate(SHARES):
            f1 = found.mean("f1", place)
            points.append(Point(share, f1.value or 0.0, None, f1.bounds, f"{name}, {share:.0%}"))
        line = tuple((each.x, each.y) for each in points)
        series.append(Series(name, tuple(points), line, at))
    ends = "; ".join(
        f"{each.name} {', '.join(f'{point.y:.3f} at {point.x:g}' for point in each.points[::2])}"
        for each in series
    )
    return Figure(
        f"shares-{policy}",
        f"F1 of {policy} by the share of questions retrieved for",
        "share of questions retrieved for",
        "F1",
        tuple(series),
        alternative=f"Mean F1 with 95% intervals, the most long-tail questions first: {ends}.",
        note=(
            "At 0 no question is retrieved for, at 1 every question. Questions picked at random "
            "would give the straight line between the two ends."
        ),
    )


def _first(scores: Floats, share: float) -> Passed:
    """Return the share of questions with the highest scores."""
    count = round(share * len(scores))
    order = np.argsort(-scores, kind="stable")
    passed = np.zeros(len(scores), dtype=np.bool_)
    passed[order[:count]] = True
    return passed
