"""Sentences made from figures alone: which value is highest, and which differences exclude 0.

Two systems are compared by the paired difference on the same questions. Whether the intervals of
their means overlap says less, so no sentence is made from overlap.
"""

from collections.abc import Callable, Mapping, Sequence

from scaar.evaluator.report.analysis import Analysis, Compared, Statistic
from scaar.evaluator.report.matched_budgets import at_retrievals
from scaar.evaluator.report.model import Figure, Point, Series, Table
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.variants import PolicyVariant

LEVEL = 0.05
"""Corrected p-values below this level are reported as differences."""

Paired = Callable[[str, str], Estimate]
"""The paired difference of the first named value from the second."""


def highest_sentence(what: str, found: Mapping[str, Estimate], paired: Paired) -> str:
    """Return the highest value and the paired differences of the others from that value."""
    known = {name: each for name, each in found.items() if each.value is not None}
    if not known:
        return f"Nothing has a value of {what}."
    best = max(known, key=lambda name: (known[name].value, known[name].low is not None))
    text = f"{what} is highest for {best}: {written(known[best])}."
    differences = {name: paired(name, best) for name in known if name != best}
    if not differences:
        return text
    excluded = [name for name, each in differences.items() if _excludes_zero(each) is True]
    included = [name for name, each in differences.items() if _excludes_zero(each) is False]
    unknown = [name for name, each in differences.items() if _excludes_zero(each) is None]
    parts = [
        f"{verb} {_listed([_signed(name, differences[name]) for name in names])}"
        for verb, names in (("excludes 0 for", excluded), ("includes 0 for", included))
        if names
    ]
    parts += [f"is undefined for {_listed(unknown)}"] if unknown else []
    return f"{text} The paired 95% interval of the difference from {best} {'; it '.join(parts)}."


def chosen_sentence(analysis: Analysis, what: str) -> str:
    """Return the highest value of the policies at their chosen settings."""

    def chosen(variant: PolicyVariant) -> Statistic:
        return of_setting_chosen(analysis, variant, analysis.measure)

    return _highest_of(analysis, f"{what} at the chosen setting", chosen)


def matched_sentence(analysis: Analysis, what: str, target: float) -> str:
    """Return the highest value of the policies at a matched retrieval budget."""
    plural = "" if target == 1 else "s"
    title = f"{what} at {target:g} retrieval{plural} a question"
    return _highest_of(analysis, title, lambda each: at_retrievals(analysis, target, each))


def differences_sentence(analysis: Analysis, what: str) -> str:
    """Return the policies that differ from the reference at their chosen settings, by Holm."""
    compared = analysis.compare(lambda each: of_setting_chosen(analysis, each, analysis.measure))
    return _differing(compared, analysis.reference.name, what)


def curve_sentences(figure: Figure) -> list[str]:
    """Return the lowest and the highest value of each curve, with their intervals."""
    return [_curve(each, figure) for each in figure.series if len(each.points) > 1]


def marks_sentence(table: Table) -> str:
    """Return how often each trigger is best for a query, and each query for a trigger."""
    rows = {str(cells[0].value): cells[1:] for cells in table.rows}
    queries = [column.title for column in table.columns[1:]]
    by_trigger = {
        name: sum("best of column" in cell.note for cell in cells) for name, cells in rows.items()
    }
    by_query = {
        name: sum("best of row" in cells[at].note for cells in rows.values())
        for at, name in enumerate(queries)
    }
    return (
        f"Best trigger for a query: {_counts(by_trigger, len(queries), 'queries')}. "
        f"Best query for a trigger: {_counts(by_query, len(rows), 'triggers')}."
    )


def _highest_of(
    analysis: Analysis, what: str, statistic: Callable[[PolicyVariant], Statistic]
) -> str:
    statistics = {each.name: statistic(each) for each in analysis.variants}
    found = {name: analysis.estimate(each) for name, each in statistics.items()}
    return highest_sentence(
        what, found, lambda name, best: analysis.difference(statistics[name], statistics[best])
    )


def _excludes_zero(difference: Estimate) -> bool | None:
    """Whether the interval excludes 0; None where there is no interval."""
    if difference.low is None or difference.high is None:
        return None
    return difference.low > 0 or difference.high < 0


def _curve(series: Series, figure: Figure) -> str:
    best = max(series.points, key=lambda point: point.y)
    lowest = min(series.points, key=lambda point: point.y)
    if best.y == lowest.y:
        return f"{series.name}: {best.y:.3f} at every {figure.x_title}."
    return (
        f"{series.name}: from {_point(lowest)} at {figure.x_title} {lowest.x:g} to "
        f"{_point(best)} at {best.x:g}."
    )


def _point(point: Point) -> str:
    bounds = "" if point.y_range is None else f" [{point.y_range[0]:.3f}, {point.y_range[1]:.3f}]"
    return f"{point.y:.3f}{bounds}"


def _differing(compared: Sequence[Compared], reference: str, what: str) -> str:
    far = [each for each in compared if (p := each.difference.holm) is not None and p < LEVEL]
    beside = f"from {reference} in {what} at the chosen settings with p (Holm) below {LEVEL:g}"
    if not far:
        return f"None of the other {len(compared)} differs {beside}."
    names = ", ".join(_signed(each.variant.name, each.difference) for each in far)
    verb = "differs" if len(far) == 1 else "differ"
    return f"Of the other {len(compared)}, {len(far)} {verb} {beside}: {names}."


def _counts(found: Mapping[str, int], of: int, what: str) -> str:
    return ", ".join(f"{name} for {count} of {of} {what}" for name, count in found.items())


def _signed(name: str, difference: Estimate) -> str:
    return f"{name} ({difference.value:+.3f})"


def written(found: Estimate) -> str:
    """Return an estimate with its interval as text."""
    if found.value is None:
        return "an undefined share"
    bounds = f" [{found.low:.3f}, {found.high:.3f}]" if found.low is not None else ""
    return f"{found.value:.3f}{bounds}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
