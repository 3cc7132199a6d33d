"""The questions that a gate retrieves for: by its own threshold, and at a given share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from scaar.evaluator.statistics.detection import ranks
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.validation import Judged

SHARES = (0.25, 0.5, 0.75)
"""The shares of questions that are retrieved for."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """How often a gate retrieves for each question, in [0, 1].

    ``own`` is by its own threshold, ``at`` by the share of questions that are retrieved for. Both
    are means over the repetitions. ``ranks`` are those of the scores within their folds: questions
    by repetitions.
    """

    own: Floats
    at: Mapping[float, Floats]
    ranks: Floats


def choices_of(judged: Judged, scores: Floats) -> Choices:
    """Return the choices by the scores of a gate."""
    return Choices(
        own=(scores >= 0).mean(axis=0),
        at={
            share: _within_groups(judged, scores, partial(top, share=share)).mean(axis=0)
            for share in SHARES
        },
        ranks=_within_groups(judged, scores, ranks).T,
    )


def _within_groups(judged: Judged, scores: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """Return the function of the scores of each fold of each repetition."""
    found = np.zeros(scores.shape)
    for row, values, groups in zip(found, scores, judged.groups, strict=True):
        for group in np.unique(groups):
            within = groups == group
            row[within] = function(values[within])
    return found


def top(scores: Floats, share: float) -> Floats:
    """Return 1 for the share of questions with the highest scores, else 0.

    Questions that tie at the edge have equal parts, so that the sum is exact.
    """
    count = share * len(scores)
    edge = np.sort(scores)[::-1][min(int(count), len(scores) - 1)]
    above, at_edge = scores > edge, scores == edge
    return np.asarray(above + at_edge * (count - above.sum()) / at_edge.sum())
