"""What counts as the long tail: what the lab declares, and what its model turns out not to know."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from record.longtail.measured import Gated
from record.longtail.plan import LABELS, RUN
from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.lab import RANKS
from scaar.evaluator.records import Question

TAIL = "popularity=tail"
HARDLY = f"rank={RANKS[-2] + 1} to {RANKS[-1]},tail"
"""The tail, and the films that the model hardly knows."""
HALF = 0.5
"""The F1 from which an answer counts as right."""
UNKNOWN = f"what the model alone gets wrong (F1 below {HALF:g})"
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
"""GECE, its variants and its parts, as they are called on the page."""


def knows(gated: Gated) -> NDArray[np.bool_]:
    """Whether the model by itself answers each question of the table more right than wrong."""
    right: NDArray[np.bool_] = gated.measured.table.column("f1")[gated.alone] >= HALF
    return right


def check_labelled(labelled: Sequence[Question], asked: Sequence[Question]) -> None:
    """Passes an evaluation of the very questions that were labelled.

    Raises:
        InvalidRequest: it is of others.
    """
    if {each.id: each for each in labelled} != {each.id: each for each in asked}:
        told = f"{LABELS} and {RUN} are of other questions; both are drawn by one seed and limit"
        raise InvalidRequest.of("DIR", told)
