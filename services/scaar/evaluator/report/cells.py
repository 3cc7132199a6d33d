"""Cells and columns of what is in every table: estimates, p-values, counts."""

from scaar.evaluator.report.model import Cell, Column
from scaar.evaluator.statistics.estimate import Estimate

_TITLES = {
    "f1": "F1",
    "exact_match": "EM",
    "bleu4_smoothed": "BLEU-4 (smoothed)",
    "rouge1": "ROUGE-1",
    "meteor_exact_stem": "METEOR (no synonyms)",
}


def measure_title(name: str) -> str:
    """A measure as it is called on a page."""
    return _TITLES.get(name, name.replace("_", " "))


def estimated(found: Estimate, *, missing: str = "undefined") -> Cell:
    """The cell of an estimate; ``missing`` is said where it has no value."""
    if found.value is None:
        return Cell(None, note=missing)
    return Cell(
        found.value, found.low, found.high, note="" if found.low is not None else "no interval"
    )


def number(value: float | None, *, missing: str = "") -> Cell:
    """The cell of a number without an interval."""
    return Cell(value, note=missing if value is None else "")


def text(value: str) -> Cell:
    """The cell of a text."""
    return Cell(value)


def score_column(name: str, title: str, *, signed: bool = False) -> Column:
    """A column of scores in [0, 1] or of their differences."""
    return Column(name, title, decimals=3, signed=signed)
