"""The main figures of every policy in every evaluation, equal to those of its own report."""

from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.areas import Areas, areas_of
from scaar.evaluator.report.cells import estimated, measure_title, score_column, text
from scaar.evaluator.report.matched_budgets import NOT_REACHED, TARGETS, at_retrievals
from scaar.evaluator.report.model import Cell, Column, Section, Table
from scaar.evaluator.report.summary import measures_shown, of_setting_chosen
from scaar.evaluator.statistics.matched import SEARCHES as SPENT
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.variants import PolicyVariant
from scaar.evaluator.studies.joining.axes import Axis
from scaar.evaluator.studies.joining.evaluations import Joined

_NO_AREA = "none"


def tabulate_policies(joined: Joined) -> Section:
    """Return a row for each policy and evaluation, also for policies that a model cannot serve."""
    shown = _shown(joined)
    title = measure_title(joined.measure)
    rows = []
    for at, analysis in enumerate(joined.analyses):
        areas = areas_of(analysis, "searches", SPENT)
        known = {each.name: each for each in analysis.variants}
        for name in joined.policies():
            variant = known.get(name)
            figures = (
                [Cell(None, note="not served")] * (len(shown) + len(TARGETS) + 2)
                if variant is None
                else _figures(analysis, variant, areas, shown)
            )
            rows.append((*labels_of(joined.axes, at), text(name), *figures))
    table = Table(
        "joined_policies",
        "Every policy in every evaluation",
        (
            *label_columns(joined.axes),
            Column("policy", "policy"),
            *(score_column(name, measure_title(name)) for name in shown),
            *(score_column(f"at_{each:g}", f"{title} at {each:g}") for each in TARGETS),
            Column(RETRIEVALS, "retrievals (N_R)", decimals=2),
            score_column("area", f"mean {title} (area)"),
        ),
        tuple(rows),
        note=(
            "Means on the test split at the chosen setting of each policy in each evaluation, with "
            f"95% intervals that include the choice; {title} at a matched budget of retrievals per "
            "question; and the area under the frontier against retrievals over the range that the "
            "policies of an evaluation have in common. Areas are comparable within an evaluation "
            "only."
        ),
    )
    return Section("Policies", (table,))


def label_columns(axes: tuple[Axis, ...]) -> tuple[Column, ...]:
    """Return the columns that identify the evaluation of a row."""
    return tuple(Column(each.name.replace(" ", "_"), each.name) for each in axes)


def labels_of(axes: tuple[Axis, ...], at: int) -> tuple[Cell, ...]:
    """Return the cells that identify the evaluation of a row."""
    values = (each.values[at] for each in axes)
    return tuple(text(x if isinstance(x, str) else f"{x:g}") for x in values)


def _shown(joined: Joined) -> list[str]:
    """The measures of a summary that all evaluations have."""
    first, *others = (measures_shown(each) for each in joined.analyses)
    return [name for name in first if all(name in other for other in others)]


def _figures(
    analysis: Analysis, variant: PolicyVariant, areas: Areas, shown: list[str]
) -> list[Cell]:
    def chosen(column: str) -> Cell:
        return estimated(analysis.estimate(of_setting_chosen(analysis, variant, column)))

    matched = [
        estimated(analysis.estimate(at_retrievals(analysis, target, variant)), missing=NOT_REACHED)
        for target in TARGETS
    ]
    area = (
        estimated(analysis.estimate(areas.area_of(variant)))
        if variant in areas.among
        else Cell(None, note=_NO_AREA)
    )
    return [*map(chosen, shown), *matched, chosen(RETRIEVALS), area]
