"""Values with their intervals as cells and as they are written in sentences."""

import math

from scaar.evaluator.longtail.detection import Bounded
from scaar.evaluator.report.model import Cell


def cell_of(found: Bounded) -> Cell:
    """The cell of a value; not a number is undefined."""
    if math.isnan(found.value):
        return Cell(None, note="undefined")
    return Cell(found.value, found.low, found.high)


def written(found: Bounded) -> str:
    """The value with its interval."""
    if math.isnan(found.value):
        return "an undefined share"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
