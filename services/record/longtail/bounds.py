"""Values with their intervals, as cells and in sentences."""

import math

from scaar.evaluator.report.model import Cell
from scaar.evaluator.studies.longtail.detection import Bounded


def cell_of(found: Bounded) -> Cell:
    """Return the cell of a value; not a number is undefined."""
    if math.isnan(found.value):
        return Cell(None, note="undefined")
    return Cell(found.value, found.low, found.high)


def written(found: Bounded) -> str:
    """Return the value with its interval as text."""
    if math.isnan(found.value):
        return "an undefined share"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
