"""The figures of the drift page: rates and means of answers over time, by policy and artefact."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from scaar.console.data_tables import NOTHING, Cell, Column, DataTable, Mark, data_table
from scaar.console.drift_rates import RATES, Rate
from scaar.console.drift_search import DriftSearch, seconds_of
from scaar.console.line_chart import MAX_SERIES, ChartSeries, LineChart
from scaar.console.number_text import count, decimal_text
from scaar.console.policy_rows import policy_href
from scaar.core.records import RecordGroup, RecordMoments
from scaar.core.types import ExpectedCost, PolicyDescription

_SUMS = (
    *("answers", "failed", "abstained", "retrieved", "retrievals", "generated_tokens"),
    *("prompt_tokens", "judged_drafts", "uncertain_drafts", "sentences", "degraded_sentences"),
    *("correct", "wrong", "partial"),
)
_SHORT_DIGEST = 8
_FAR = 0.25
"""Difference from an expectation, as a share of it, from which it is marked."""


@dataclass(frozen=True, slots=True)
class DriftSeries:
    """The groups of a policy with one artefact, over tenants, by start of the period."""

    policy: str
    digest: str
    groups: Mapping[int, RecordGroup]
    total: RecordGroup
    expected: ExpectedCost | None
    several: bool
    """Whether records of the policy have several artefacts."""

    @property
    def name(self) -> str:
        """The policy, with its artefact if the records have several."""
        artefact = self.digest[:_SHORT_DIGEST] or "no artefact"
        return f"{self.policy} ({artefact})" if self.several else self.policy


def drift_series(
    groups: Iterable[RecordGroup], policies: Iterable[PolicyDescription]
) -> tuple[DriftSeries, ...]:
    """Return the series of the groups, that with the most answers first."""
    expected = {
        (each.name, each.artefact.digest): each.artefact.expected
        for each in policies
        if each.artefact is not None
    }
    found: dict[tuple[str, str], dict[int, list[RecordGroup]]] = {}
    for each in groups:
        periods = found.setdefault((each.policy, each.artefact_digest), {})
        periods.setdefault(int(seconds_of(each.start)), []).append(each)
    names = [policy for policy, _ in found]
    series = [
        DriftSeries(
            policy,
            digest,
            {start: merged(parts) for start, parts in periods.items()},
            merged([each for parts in periods.values() for each in parts]),
            expected.get((policy, digest)),
            several=names.count(policy) > 1,
        )
        for (policy, digest), periods in found.items()
    ]
    return tuple(sorted(series, key=lambda each: (-each.total.answers, each.name)))


def merged(groups: Sequence[RecordGroup]) -> RecordGroup:
    """Return one group of several: sums, and means weighted by answers."""
    sums = {name: sum(getattr(each, name) for each in groups) for name in _SUMS}
    known = [
        (each.mean_probability, each.moments.with_probability if each.moments else each.answers)
        for each in groups
    ]
    return replace(
        groups[0],
        **sums,
        mean_probability=_mean([(value, n) for value, n in known if value is not None]),
        mean_latency_ms=_mean([(each.mean_latency_ms, each.answers) for each in groups]) or 0.0,
        moments=_added([each.moments for each in groups]),
    )


def _added(moments: Sequence[RecordMoments | None]) -> RecordMoments | None:
    """Return the sums of all groups; None if one has none."""
    known = [each for each in moments if each is not None]
    if len(known) < len(moments):
        return None
    names = [each.name for each in fields(RecordMoments)]
    return RecordMoments(**{name: sum(getattr(each, name) for each in known) for name in names})


def drift_charts(search: DriftSearch, series: Sequence[DriftSeries]) -> tuple[LineChart, ...]:
    """Return a chart of every rate, of the first series."""
    return tuple(_chart(rate, search, series[:MAX_SERIES]) for rate in RATES)


def period_table(rate: Rate, search: DriftSearch, series: Sequence[DriftSeries]) -> DataTable:
    """Return the values of a chart as a table, of the periods with an answer."""
    shown = series[:MAX_SERIES]
    columns = [Column("Period", "Start of the period.", "UTC")]
    columns += [Column(each.name, rate.explained, number=True) for each in shown]
    rows = []
    for start in search.starts:
        groups = [each.groups.get(start) for each in shown]
        if any(groups):
            cells = [NOTHING if each is None else _cell(rate, each) for each in groups]
            rows.append([Cell(search.label(start)), *cells])
    return data_table(rate.label, columns, rows)


def _cell(rate: Rate, group: RecordGroup) -> Cell:
    return Cell(f"{rate.text(rate.value(group))} {rate.interval_text(group)}".rstrip())


def overview_table(series: Sequence[DriftSeries]) -> DataTable:
    """Return the rates of all periods by policy, with the expectation of tuned ones."""
    columns = [Column("Policy", "The policy, and its artefact if the records have several.")]
    columns += [
        Column(each.title, _overview_meaning(each), each.unit, number=True) for each in RATES
    ]
    rows = []
    for each in series:
        cells = [Cell(each.name, href=policy_href(each.policy), foreign=True)]
        rows.append([*cells, *(_overview_cell(rate, each) for rate in RATES)])
    return data_table("All periods together", columns, rows)


def _overview_meaning(rate: Rate) -> str:
    if rate.expected is None:
        return rate.explained
    return (
        f"{rate.explained} Marked if it differs from the expectation by more than a quarter of it, "
        "and as a warning unless its interval has the expectation."
    )


def _overview_cell(rate: Rate, series: DriftSeries) -> Cell:
    value = rate.value(series.total)
    if rate.name == "answers":
        return count(series.total.answers)
    if value is None:
        return NOTHING
    if rate.expected is None or series.expected is None:
        return Cell(rate.text(value), note=rate.interval_text(series.total))
    expected, interval = rate.expected(series.expected), rate.interval_of(series.total)
    difference = decimal_text(value - expected, rate.decimals, sign="+")
    marks: tuple[Mark, ...] = ()
    if abs(value - expected) > _FAR * max(expected, 1e-9):
        by_chance = interval is not None and interval.has(expected)
        marks = (Mark("over 25% off", "plain" if by_chance else "warn"),)
    notes = [f"expected {rate.text(expected)}", f"difference {difference}"]
    if interval is not None:
        notes.insert(0, rate.interval_text(series.total))
    return Cell(rate.text(value), note=", ".join(notes), marks=marks)


def _chart(rate: Rate, search: DriftSearch, series: Sequence[DriftSeries]) -> LineChart:
    lines = []
    for each in series:
        groups = [each.groups.get(start) for start in search.starts]
        values = tuple(None if group is None else rate.value(group) for group in groups)
        intervals = tuple(None if group is None else rate.interval_of(group) for group in groups)
        level = each.expected if rate.expected is not None else None
        expected = rate.expected(level) if rate.expected is not None and level is not None else None
        lines.append(ChartSeries(each.name, values, expected, intervals))
    return LineChart(
        rate.name,
        rate.label,
        _description(rate, series),
        tuple(search.label(start) for start in search.starts),
        tuple(lines),
    )


def _description(rate: Rate, series: Sequence[DriftSeries]) -> str:
    parts = [f"{each.name} {rate.text(rate.value(each.total))}" for each in series]
    word = "In total" if rate.name == "answers" else "Over all periods"
    return f"{word}: {', '.join(parts)}. The table below the chart has every value."


def _mean(values: Sequence[tuple[float, int]]) -> float | None:
    weight = sum(number for _, number in values)
    return sum(value * number for value, number in values) / weight if weight else None
