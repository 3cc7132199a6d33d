"""Sentences made of the numbers alone: what is highest, whose intervals overlap, what differs."""

from collections.abc import Mapping, Sequence

from scaar.evaluator.report.analysis import Analysis, Compared, Statistic
from scaar.evaluator.report.matched_retrievals import at_retrievals
from scaar.evaluator.report.model import Figure, Series, Table
from scaar.evaluator.report.summary import of_setting_chosen
from scaar.evaluator.statistics.contenders import Contender
from scaar.evaluator.statistics.estimate import Estimate

LEVEL = 0.05
"""Below which a corrected p-value is told as a difference."""


def tell_highest(what: str, found: Mapping[str, Estimate]) -> str:
    """Who has the highest value, and whose intervals overlap with that one's."""
    known = {name: each for name, each in found.items() if each.value is not None}
    if not known:
        return f"Nothing has a value of {what}."
    top = max(each.value or 0.0 for each in known.values())
    best = [name for name, each in known.items() if each.value == top]
    first = next((name for name in best if known[name].low is not None), best[0])
    told = f"{what} is highest for {_and(best)}: {_written(known[first])}."
    low = known[first].low
    if low is None:
        return told
    others = {name: each for name, each in known.items() if name not in best}
    overlap = [name for name, each in others.items() if each.high is not None and each.high >= low]
    below = [name for name, each in others.items() if each.high is not None and each.high < low]
    unknown = [name for name, each in others.items() if each.high is None]
    parts = [
        f"its interval overlaps with {_those(overlap)} of {_and(overlap)}" if overlap else "",
        f"{_those(below)} of {_and(below)} lie{'s' if len(below) == 1 else ''} below it"
        if below
        else "",
        f"{_and(unknown)} {'has' if len(unknown) == 1 else 'have'} none" if unknown else "",
    ]
    second = "; ".join(part for part in parts if part)
    return f"{told} {second[0].upper()}{second[1:]}." if second else told


def tell_chosen(analysis: Analysis, what: str) -> str:
    """The same of the policies at their chosen settings."""

    def chosen(contender: Contender) -> Statistic:
        return of_setting_chosen(analysis, contender, analysis.measure)

    found = {each.name: analysis.estimate(chosen(each)) for each in analysis.contenders}
    return tell_highest(f"{what} at the chosen setting", found)


def tell_matched(analysis: Analysis, what: str, target: float) -> str:
    """The same of the policies where so many retrievals a question are spent."""
    found = {
        each.name: analysis.estimate(at_retrievals(analysis, target, each))
        for each in analysis.contenders
    }
    plural = "" if target == 1 else "s"
    return tell_highest(f"{what} at {target:g} retrieval{plural} a question", found)


def tell_differences(analysis: Analysis, what: str) -> str:
    """Which policies differ from the reference at their chosen settings, corrected by Holm."""
    compared = analysis.compare(lambda each: of_setting_chosen(analysis, each, analysis.measure))
    return _differing(compared, analysis.reference.name, what)


def tell_curve(figure: Figure) -> list[str]:
    """Of each curve where it is highest, and whether the intervals tell that from the lowest."""
    return [_curve(each, figure) for each in figure.series if len(each.points) > 1]


def tell_marks(table: Table) -> str:
    """How many rows and columns of combinations each query and trigger is the best of."""
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


def _curve(series: Series, figure: Figure) -> str:
    best = max(series.points, key=lambda point: point.y)
    least = min(series.points, key=lambda point: point.y)
    if best.y == least.y:
        return f"{series.name}: {best.y:.3f} at every {figure.x_title}."
    told = (
        f"{series.name}: from {least.y:.3f} at {figure.x_title} {least.x:g} to {best.y:.3f} at "
        f"{best.x:g}"
    )
    if best.y_range is None or least.y_range is None:
        return f"{told}."
    apart = best.y_range[0] > least.y_range[1]
    return f"{told}; the intervals of the two {'do not overlap' if apart else 'overlap'}."


def _differing(compared: Sequence[Compared], reference: str, what: str) -> str:
    far = [each for each in compared if each.holm is not None and each.holm < LEVEL]
    beside = f"from {reference} in {what} at the chosen settings with p (Holm) below {LEVEL:g}"
    if not far:
        return f"None of the other {len(compared)} differs {beside}."
    told = ", ".join(f"{each.contender.name} ({each.difference.value:+.3f})" for each in far)
    verb = "differs" if len(far) == 1 else "differ"
    return f"Of the other {len(compared)}, {len(far)} {verb} {beside}: {told}."


def _counts(found: Mapping[str, int], of: int, what: str) -> str:
    return ", ".join(f"{name} for {count} of {of} {what}" for name, count in found.items())


def _written(found: Estimate) -> str:
    bounds = f" [{found.low:.3f}, {found.high:.3f}]" if found.low is not None else ""
    return f"{found.value:.3f}{bounds}"


def _those(names: Sequence[str]) -> str:
    return "that" if len(names) == 1 else "those"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
