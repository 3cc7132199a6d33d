"""The definitions of the long tail: that of the lab, and the questions its model gets wrong."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from record.longtail.gated_evaluation import GatedEvaluation
from record.longtail.plan import LABELS, RUN
from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.lab import RANKS
from scaar.evaluator.records import Question

TAIL = "popularity=tail"
HARDLY = f"rank={RANKS[-2] + 1} to {RANKS[-1]},tail"
"""The tail, and the films that the model hardly knows."""
HALF = 0.5
"""The F1 from which an answer counts as right."""
UNKNOWN = f"what the model alone answers wrong (F1 below {HALF:g})"
NAMES = {
    "gece": "GECE",
    "without_statistics": "GECE without statistics",
    "without_semantics": "GECE without semantics",
    "gap": "the gap of METEOR and probability",
    "gap of METEOR and probability": "the gap of METEOR and probability",
    "METEOR, low first": "METEOR alone",
    "token probability, low first": "token probability alone",
    "word frequency, low first": "word frequency alone",
    "gradients' product, low first": "the gradients' product alone",
}
"""GECE, its variants and its parts by their names on the page."""


def knows(gated: GatedEvaluation) -> NDArray[np.bool_]:
    """Return whether the model alone answers each question of the table right."""
    right: NDArray[np.bool_] = gated.measurements.table.column("f1")[gated.alone] >= HALF
    return right


def check_labelled(labelled: Sequence[Question], evaluated: Sequence[Question]) -> None:
    """Check that the labelled questions are the evaluated ones.

    Raises:
        InvalidRequest: they differ.
    """
    if {each.id: each for each in labelled} != {each.id: each for each in evaluated}:
        text = f"{LABELS} and {RUN} have different questions; use the same seed and limit for both"
        raise InvalidRequest.of("DIR", text)
