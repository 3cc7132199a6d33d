"""The area under each policy's frontier, over the range that the frontiers have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import (
    difference_cells,
    difference_columns,
    estimated,
    mark_best,
    measure_title,
    number,
    score_column,
    text,
)
from scaar.evaluator.report.model import Cell, Column, Item, Table
from scaar.evaluator.statistics.matched import (
    SEARCHES,
    TOKENS,
    area,
    common_range,
    frontier,
    long_enough,
)
from scaar.evaluator.statistics.means import SplitMeans
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.statistics.variants import PolicyVariant


@dataclass(frozen=True, slots=True)
class Areas:
    """The policies with a frontier, and the area of each.

    ``note`` names the range of the areas, or says why there are none.
    """

    among: tuple[PolicyVariant, ...]
    area_of: Callable[[PolicyVariant], Statistic]
    note: str


def measure_areas(analysis: Analysis) -> list[Item]:
    """Return a table of areas against searches and one against tokens.

    A sentence that says why replaces a table without areas.
    """
    return [_area(analysis, "searches", SEARCHES), _area(analysis, "tokens", TOKENS)]


def areas_of(analysis: Analysis, name: str, spent: Sequence[str]) -> Areas:
    """Return the areas over the range that all policies with a long enough frontier reach."""
    measure = analysis.measure
    lines = [
        frontier(analysis.means, each.candidates, measure=measure, spent=spent)
        for each in analysis.variants
    ]
    pairs = zip(analysis.variants, lines, long_enough(lines), strict=True)
    among = [(variant, line) for variant, line, counts in pairs if counts]
    if not among:
        why = (
            f"No policy has a frontier against {name}: its settings would have to differ in their "
            f"number of {name}."
        )
        return Areas((), _none, why)
    low, high = (float(each[0]) for each in common_range([line for _, line in among]))
    names = ", ".join(variant.name for variant, _ in among)
    if low >= high:
        why = f"The frontiers of {names} against {name} have no range in common."
        return Areas((), _none, why)
    candidates = [variant.candidates for variant, _ in among]

    def area_of(variant: PolicyVariant) -> Statistic:
        def statistic(splits: SplitMeans) -> Floats:
            own = variant.candidates
            return area(splits, own, among=candidates, measure=measure, spent=spent)

        return statistic

    note = (
        f"Mean height of the frontier from {low:.4g} to {high:.4g} {name} per question, the range "
        f"that {names} have in common. Policies whose settings have about the same cost have no "
        "frontier."
    )
    return Areas(tuple(variant for variant, _ in among), area_of, note)


def _none(_: PolicyVariant) -> Statistic:
    return lambda splits: np.full(len(splits.test.values), np.nan)


def _area(analysis: Analysis, name: str, spent: Sequence[str]) -> Item:
    found = areas_of(analysis, name, spent)
    if not found.among:
        return found.note
    against = {each.variant: each for each in analysis.compare(found.area_of)}
    # Without a frontier of the reference there are no differences.
    compared = analysis.reference in found.among and len(found.among) > 1
    rows: list[tuple[Cell, ...]] = []
    for variant in found.among:
        row = [text(variant.name), estimated(analysis.estimate(found.area_of(variant)))]
        if compared:
            other = against.get(variant)
            row += (
                [text("reference"), number(None), number(None)]
                if other is None
                else difference_cells(other.difference)
            )
        rows.append(tuple(row))
    columns = (
        Column("policy", "policy"),
        score_column("area", f"mean {measure_title(analysis.measure)}", pinned=True),
        *(difference_columns(f"difference from {analysis.reference.name}") if compared else ()),
    )
    return Table(
        f"area_{name}",
        f"Area under the frontier against {name}",
        columns,
        mark_best(columns, rows, ("area",)),
        note=found.note,
    )
