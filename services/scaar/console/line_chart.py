"""Line charts as SVG: a value by period for every series, with its interval and expected level.

Colours come from the style sheet of the page, so that a chart is light or dark with its page and
black on white in print. Series differ by marker and dashes as well as by colour. A line has a gap
where a period has no value. Markers are defined once a series, so that the size of a chart hardly
depends on the number of periods.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from scaar.console.drift_intervals import Interval
from scaar.evaluator.report.scale import Scale, scale

WIDTH, HEIGHT = 420, 250
MAX_SERIES = 6
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 12, 34
_SHAPES = (
    "M1 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M1.5 1.5h7v7h-7z",
    "M5 .5l4.5 8h-9z",
    "M5 .3l4.7 4.7-4.7 4.7-4.7-4.7z",
    "M5 9.5l4.5-8h-9z",
    "M3.5 .5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
)
_BESIDE = 1.6
"""Distance between the intervals of two series in the same period."""
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 2", "1 2")


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """The values of a series, one a period; None where a period has none.

    ``expected`` is drawn as a level of its own, None without one, and ``intervals``, one a period,
    as vertical lines.
    """

    name: str
    values: tuple[float | None, ...]
    expected: float | None = None
    intervals: tuple[Interval | None, ...] = ()


@dataclass(frozen=True, slots=True)
class LineChart:
    """A chart. ``name`` is unique on the page; ``periods`` are the labels of the places."""

    name: str
    title: str
    description: str
    periods: tuple[str, ...]
    series: tuple[ChartSeries, ...]


def chart_svg(chart: LineChart) -> str:
    """Draw a chart.

    Raises:
        ValueError: there are more series than markers.
    """
    if len(chart.series) > MAX_SERIES:
        raise ValueError(f"a chart has at most {MAX_SERIES} series")
    values = [value for each in chart.series for value in each.values if value is not None]
    levels = [each.expected for each in chart.series if each.expected is not None]
    levels += [each.high for one in chart.series for each in one.intervals if each is not None]
    bottom = HEIGHT - _BOTTOM
    y = scale(
        (0.0, *values, *levels) if any((*values, *levels)) else (0.0, 1.0), bottom, _TOP, ticks=4
    )
    name = escape(chart.name)
    return "".join(
        (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-labelledby="{name}-title {name}-desc">',
            f'<title id="{name}-title">{escape(chart.title)}</title>',
            f'<desc id="{name}-desc">{escape(chart.description)}</desc>',
            *_axes(chart, y),
            *(part for at, each in enumerate(chart.series) for part in _series(chart, at, each, y)),
            "</svg>",
        )
    )


def key_svg(number: int) -> str:
    """Draw the line and the marker of a series, for the legend beside the charts."""
    return (
        f'<svg class="chart key" viewBox="0 0 34 12" aria-hidden="true"><g class="s{number}">'
        f'<path class="line" d="M1 6h32"{_dashes(number)}/>'
        f'<path class="mark" transform="translate(12 1)" d="{_SHAPES[number]}"/></g></svg>'
    )


def _series(chart: LineChart, at: int, series: ChartSeries, y: Scale) -> Iterator[str]:
    marker = f"{escape(chart.name)}-m{at}"
    yield (
        f'<g class="s{at}"><title>{escape(series.name)}</title>'
        f'<marker id="{marker}" viewBox="0 0 10 10" refX="5" refY="5" markerUnits="userSpaceOnUse" '
        f'markerWidth="8" markerHeight="8"><path class="mark" d="{_SHAPES[at]}"/></marker>'
    )
    if series.expected is not None:
        level = y.place(series.expected)
        yield (
            f'<path class="expected" d="M{_LEFT} {level}H{WIDTH - _RIGHT}"/>'
            f'<text class="expected" x="{WIDTH - _RIGHT}" y="{level - 4:g}" text-anchor="end">'
            f"expected {series.expected:.3g}</text>"
        )
    if lines := "".join(_interval_lines(chart, at, series, y)):
        yield f'<path class="interval" d="{lines}"/>'
    for part in _parts(series.values):
        places = [f"{_across(chart, period)} {y.place(value)}" for period, value in part]
        line = "L".join(places) if len(places) > 1 else f"{places[0]}h0"
        ends = "".join(f' marker-{end}="url(#{marker})"' for end in ("start", "mid", "end"))
        yield f'<path class="line" d="M{line}"{_dashes(at)}{ends}/>'
    yield "</g>"


def _interval_lines(chart: LineChart, at: int, series: ChartSeries, y: Scale) -> Iterator[str]:
    """Yield the lines of the intervals, those of several series beside each other."""
    beside = (at - (len(chart.series) - 1) / 2) * _BESIDE
    for period, each in enumerate(series.intervals):
        if each is not None:
            place = round(_across(chart, period) + beside, 1)
            yield f"M{place} {y.place(each.low)}V{y.place(each.high)}"


def _parts(values: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    """Yield the runs of periods with values."""
    part: list[tuple[int, float]] = []
    for period, value in enumerate(values):
        if value is not None:
            part.append((period, value))
        elif part:
            yield part
            part = []
    if part:
        yield part


def _axes(chart: LineChart, y: Scale) -> Iterator[str]:
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    for tick in y.ticks:
        at = y.place(tick)
        yield f'<path class="grid" d="M{_LEFT} {at}H{right}"/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 4:g}" text-anchor="end">{y.written(tick)}</text>'
    last = len(chart.periods) - 1
    shown = sorted({0, last // 2, last}) if last > 1 else range(last + 1)
    for period in shown:
        anchor = "start" if period == 0 else "end" if period == last else "middle"
        place = _across(chart, period)
        yield f'<path class="grid" d="M{place} {_TOP}V{bottom}"/>'
        yield (
            f'<text x="{place}" y="{bottom + 20}" text-anchor="{anchor}">'
            f"{escape(chart.periods[period])}</text>"
        )


def _across(chart: LineChart, period: int) -> float:
    last = len(chart.periods) - 1
    room = WIDTH - _RIGHT - _LEFT
    return round(_LEFT + (room * period / last if last else room / 2), 1)


def _dashes(number: int) -> str:
    return f' stroke-dasharray="{_DASHES[number]}"' if _DASHES[number] else ""
