"""Figures over a number in which evaluations differ, all else being equal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scaar.evaluator.report.analysis import Analysis, Statistic
from scaar.evaluator.report.cells import estimated, measure_title
from scaar.evaluator.report.matched_budgets import NOT_REACHED, at_retrievals
from scaar.evaluator.report.model import Cell, Column, Figure, Item, Point, Section, Series, Table
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.variants import PolicyVariant
from scaar.evaluator.studies.joining.evaluations import Joined, Sweep

_MATCHED = 1.0
"""Budget, in retrievals per question, at which policies are compared."""
_CHOSEN = " at the chosen setting"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A figure of a policy that is drawn over a number."""

    name: str
    title: str
    decimals: int
    of: Callable[[Analysis, PolicyVariant], Statistic]
    missing: str = "undefined"


def draw_sweeps(joined: Joined) -> list[Section]:
    """Return a section for each number: scores, scores at a matched budget, and retrievals."""
    sections = []
    for number, sweep in enumerate(joined.sweeps(), 1):
        suffix = "" if number == 1 else f"_{number}"
        items: list[Item] = []
        for shown in _all_shown(joined.measure):
            found = _estimates(sweep, shown, joined.policies())
            if any(found.values()):
                name = f"sweep_{shown.name}{suffix}"
                items += [_table(name, sweep, shown, found), _figure(name, sweep, shown, found)]
        of = f" ({sweep.equal})" if sweep.equal else ""
        sections.append(Section(f"By {sweep.name}{of}", tuple(items)))
    return sections


def _all_shown(measure: str) -> tuple[_Shown, ...]:
    title = measure_title(measure)

    def matched(analysis: Analysis, variant: PolicyVariant) -> Statistic:
        return at_retrievals(analysis, _MATCHED, variant)

    def chosen(column: str) -> Callable[[Analysis, PolicyVariant], Statistic]:
        return lambda analysis, variant: of_setting_chosen(analysis, variant, column)

    return (
        _Shown(measure, f"{title}{_CHOSEN}", 3, chosen(measure)),
        _Shown(
            "matched", f"{title} at {_MATCHED:g} retrieval per question", 3, matched, NOT_REACHED
        ),
        _Shown(RETRIEVALS, f"Retrievals per question{_CHOSEN}", 2, chosen(RETRIEVALS)),
    )


def _estimates(
    sweep: Sweep, shown: _Shown, policies: tuple[str, ...]
) -> Mapping[str, Mapping[float, Estimate]]:
    """The estimates by policy and number; without policies that do not reach the budget."""
    found: dict[str, dict[float, Estimate]] = {name: {} for name in policies}
    for x, analysis in sweep.points:
        for variant in analysis.variants:
            estimate = analysis.estimate(shown.of(analysis, variant))
            if estimate.value is not None:
                found[variant.name][x] = estimate
    return found


def _table(
    name: str, sweep: Sweep, shown: _Shown, found: Mapping[str, Mapping[float, Estimate]]
) -> Table:
    at = [x for x, _ in sweep.points]
    rows = tuple(
        (
            Cell(policy),
            *(
                estimated(each[x]) if x in each else Cell(None, note=_why(sweep, policy, x, shown))
                for x in at
            ),
        )
        for policy, each in found.items()
    )
    columns = (
        Column("policy", "policy"),
        *(Column(f"{x:g}", f"{sweep.name} {x:g}", decimals=shown.decimals) for x in at),
    )
    return Table(name, f"{shown.title}, by {sweep.name}", columns, rows)


def _why(sweep: Sweep, policy: str, x: float, shown: _Shown) -> str:
    """The reason why a policy has no value at a number."""
    analysis = dict(sweep.points)[x]
    served = policy in (each.name for each in analysis.variants)
    return shown.missing if served else "not served"


def _figure(
    name: str, sweep: Sweep, shown: _Shown, found: Mapping[str, Mapping[float, Estimate]]
) -> Figure:
    series = []
    for hue, (policy, each) in enumerate(found.items()):
        points = tuple(
            Point(x, y.value, y_range=y.bounds) for x, y in each.items() if y.value is not None
        )
        if points:
            line = tuple((point.x, point.y) for point in points)
            series.append(Series(policy, points, line, hue))
    described = "; ".join(
        f"{each.name}: " + ", ".join(f"{point.y:.3g} at {point.x:g}" for point in each.points)
        for each in series
    )
    return Figure(
        name,
        f"{shown.title}, by {sweep.name}",
        sweep.name,
        shown.title.removesuffix(_CHOSEN),
        tuple(series),
        alternative=f"{shown.title} by {sweep.name}, with 95% intervals. {described}.",
    )
