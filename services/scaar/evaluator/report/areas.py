"""The area under each policy's frontier, over the range that the policies have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import estimated, measure_title, number, score_column, text
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.contenders import Contender
from scaar.evaluator.statistics.matched import (
    RETRIEVALS,
    TOKENS,
    area,
    common_range,
    frontier,
    long_enough,
)
from scaar.evaluator.statistics.means import HalvedMeans
from scaar.evaluator.statistics.table import Floats


@dataclass(frozen=True, slots=True)
class Areas:
    """The policies with a frontier and ``area_of`` each; ``note`` says over what, or why none."""

    among: tuple[Contender, ...]
    area_of: Callable[[Contender], Statistic]
    note: str


def measure_areas(analysis: Analysis) -> list[Table]:
    """The areas against retrievals and against tokens; where there are none, why."""
    return [_area(analysis, "retrievals", RETRIEVALS), _area(analysis, "tokens", TOKENS)]


def areas_of(analysis: Analysis, name: str, spent: Sequence[str]) -> Areas:
    """The areas over what all policies with a frontier of some length reach."""
    measure = analysis.measure
    lines = [
        frontier(analysis.means, each.candidates, measure=measure, spent=spent)
        for each in analysis.contenders
    ]
    pairs = zip(analysis.contenders, lines, long_enough(lines), strict=True)
    among = [(contender, line) for contender, line, counts in pairs if counts]
    if not among:
        why = "No policy has a frontier: that takes settings that spend differently."
        return Areas((), _none, why)
    low, high = (float(each[0]) for each in common_range([line for _, line in among]))
    names = ", ".join(contender.name for contender, _ in among)
    if low >= high:
        why = f"The frontiers of {names} have no range of {name} in common."
        return Areas((), _none, why)
    candidates = [contender.candidates for contender, _ in among]

    def area_of(contender: Contender) -> Statistic:
        def statistic(halved: HalvedMeans) -> Floats:
            own = contender.candidates
            return area(halved, own, among=candidates, measure=measure, spent=spent)

        return statistic

    note = (
        f"The area from {low:.4g} to {high:.4g} {name} a question, which all of {names} reach, "
        "over its width: the mean height of the frontier. Policies whose settings spend about the "
        "same have none."
    )
    return Areas(tuple(contender for contender, _ in among), area_of, note)


def _none(_: Contender) -> Statistic:
    return lambda halved: np.full(len(halved.test.values), np.nan)


def _area(analysis: Analysis, name: str, spent: Sequence[str]) -> Table:
    found = areas_of(analysis, name, spent)
    against = {
        each.contender: each for each in (analysis.compare(found.area_of) if found.among else ())
    }
    rows = []
    for contender in found.among:
        compared = against.get(contender)
        rows.append(
            (
                text(contender.name),
                estimated(analysis.estimate(found.area_of(contender))),
                estimated(compared.difference) if compared else text("reference"),
                number(compared.difference.p if compared else None),
                number(compared.holm if compared else None),
            )
        )
    columns = (
        Column("policy", "policy"),
        score_column("area", f"mean {measure_title(analysis.measure)}"),
        score_column("difference", f"difference from {analysis.reference.name}", signed=True),
        Column("p", "p", decimals=4),
        Column("p_holm", "p (Holm)", decimals=4),
    )
    title = f"Area under the frontier against {name}"
    return Table(f"area_{name}", title, columns, tuple(rows), note=found.note)
