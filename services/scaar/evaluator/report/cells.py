"""Cells and columns of what every table has: estimates, p-values, counts."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from scaar.evaluator.report.model import Cell, Column
from scaar.evaluator.statistics.estimate import Corrected, Estimate

_TITLES = {
    "f1": "F1",
    "exact_match": "EM",
    "sub_exact_match": "sub-EM",
    "crag": "CRAG score",
    "bleu4_smoothed": "BLEU-4 (smoothed)",
    "rouge1": "ROUGE-1",
    "rouge_l": "ROUGE-L",
    "meteor_exact_stem": "METEOR (no synonyms)",
    "chrf": "chrF",
    "ter_complement": "1 - TER",
}


def measure_title(name: str) -> str:
    """Return a measure's title on a page."""
    return _TITLES.get(name, name.replace("_", " "))


def estimated(found: Estimate, *, missing: str = "undefined") -> Cell:
    """Return the cell of an estimate; ``missing`` is its note if it has no value."""
    if found.value is None:
        return Cell(None, note=missing)
    return Cell(
        found.value, found.low, found.high, note="" if found.low is not None else "no interval"
    )


def number(value: float | None, *, missing: str = "") -> Cell:
    """Return the cell of a number without an interval."""
    return Cell(value, note=missing if value is None else "")


def difference_cells(found: Corrected, *, missing: str = "") -> tuple[Cell, Cell, Cell]:
    """Return the cells of a difference, its p-value and its corrected one."""
    p, holm = (number(each, missing=missing) for each in (found.p, found.holm))
    return estimated(found), p, holm


def text(value: str) -> Cell:
    """Return the cell of a text."""
    return Cell(value)


def score_column(name: str, title: str, *, signed: bool = False, pinned: bool = False) -> Column:
    """Return a column of scores or of their differences."""
    return Column(name, title, decimals=3, signed=signed, pinned=pinned)


def difference_columns(title: str, *, pinned: bool = False) -> tuple[Column, Column, Column]:
    """Return the columns of :func:`difference_cells`."""
    return (
        score_column("difference", title, signed=True, pinned=pinned),
        Column("p", "p", decimals=4),
        Column("p_holm", "p (Holm)", decimals=4),
    )


def mark_best(
    columns: Collection[Column], rows: Iterable[tuple[Cell, ...]], names: Collection[str]
) -> tuple[tuple[Cell, ...], ...]:
    """Return the rows with the highest value of each named column marked, ties included.

    A column whose values are all the same has no best value.
    """
    found = [list(cells) for cells in rows]
    for at, column in enumerate(columns):
        if column.name in names:
            marked = mark_highest([cells[at] for cells in found])
            for cells, cell in zip(found, marked, strict=True):
                cells[at] = cell
    return tuple(tuple(cells) for cells in found)


def mark_highest(cells: Collection[Cell]) -> list[Cell]:
    """Return the cells with the highest value marked, ties included; none if all are the same."""
    values = {round(each.value, 9) for each in cells if isinstance(each.value, float)}
    best = max(values) if len(values) > 1 else None
    return [
        replace(each, best=isinstance(each.value, float) and round(each.value, 9) == best)
        for each in cells
    ]
