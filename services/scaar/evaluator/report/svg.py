"""Figures as SVG, written by hand: few kinds, the page's own colours, the same bytes every time.

Colours come from the page's style sheet, so that a figure is light or dark with its page and black
on white in print; a plotting library would fix them when it draws. Policies differ by marker as
well as by colour, and the curves of one policy by dashes, so that no reader has to distinguish
colours.

A figure is drawn on a wide canvas for desktops and files, and on a narrow one for phones, where
text of a scaled-down wide figure would be too small to read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from scaar.evaluator.report.model import Bars, Figure, Point, Series
from scaar.evaluator.report.scale import Scale, scale

COLOURS = 8
"""Number of colours of a page; series of one colour have different markers."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """The size of a drawing in pixels; ``ticks`` is the approximate number of ticks of an axis."""

    width: int
    left: int
    plot: int
    ticks: int
    suffix: str = ""


WIDE = Canvas(width=620, left=62, plot=340, ticks=6)
NARROW = Canvas(width=350, left=52, plot=260, ticks=4, suffix="-narrow")

_RIGHT, _TOP = 16, 12
_LETTER, _LINE, _ROW, _SWATCH = 7.4, 16, 22, 30
_BAR = 34
_SHAPES = (
    "m-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z",
    "m-4.2-4.2h8.4v8.4h-8.4z",
    "m0-5.4l5.2 9h-10.4z",
    "m0-5.8l5 5.8-5 5.8-5-5.8z",
    "m0 5.4l5.2-9h-10.4z",
    "m-1.7-5.2h3.4v3.5h3.5v3.4h-3.5v3.5h-3.4v-3.5h-3.5v-3.4h3.5z",
    "m-2.9-5h5.8l2.9 5-2.9 5h-5.8l-2.9-5z",
    "m0-6l1.5 4.2h4.4l-3.5 2.7 1.3 4.3-3.7-2.6-3.7 2.6 1.3-4.3-3.5-2.7h4.4z",
)
"""Markers of about ten pixels, drawn from their centre."""
_DASHES = ("", "7 3", "2 3", "9 3 2 3")


@dataclass(frozen=True, slots=True)
class _Look:
    """How a series is drawn: ``hue`` for colour and marker, ``variant`` among those of its hue."""

    hue: int
    variant: int

    @property
    def colour(self) -> int:
        return self.hue % COLOURS

    @property
    def dashes(self) -> str:
        return _DASHES[self.variant % len(_DASHES)]

    def marker(self, x: float, y: float, inside: str = "") -> str:
        """The marker, centred on a place; up to 64 hues differ by colour or shape."""
        shape = _SHAPES[(self.hue + self.hue // COLOURS) % len(_SHAPES)]
        hollow = " o" if self.variant // len(_DASHES) % 2 else ""
        return f'<path class="m{hollow}" d="M{x} {y}{shape}">{inside}</path>'


def figure_svg(figure: Figure, canvas: Canvas = WIDE) -> str:
    """Draw a figure of points with intervals, lines and a legend."""
    points = [point for series in figure.series for point in series.points]
    right, bottom = canvas.width - _RIGHT, _TOP + canvas.plot
    x = scale(_extent(points, 0), canvas.left, right, margin=0.03, ticks=canvas.ticks)
    y = scale(_extent(points, 1), bottom, _TOP)
    legend, height = _legend(figure.series, canvas)
    body = [*_axes(figure, x, y, canvas)]
    for look, series in _looks(figure.series):
        body += [_group(look), *_line(look, series, x, y), *_points(look, series, x, y), "</g>"]
    return _document(figure, canvas, bottom + 56 + height, [*body, *legend])


def bars_svg(bars: Bars, canvas: Canvas = WIDE) -> str:
    """Draw a horizontal bar for every name, with its value at its end."""
    longest = 30 + _LETTER * max(len(name) for name, _ in bars.bars)
    # Long names go above their bars.
    above = longest > 0.4 * canvas.width
    left, row = (8.0, _BAR + _LINE) if above else (longest, _BAR)
    values = (0.0, *(value for _, value in bars.bars))
    x = scale(values, left, canvas.width - 60, ticks=canvas.ticks)
    bottom = _TOP + row * len(bars.bars)
    body = list(_vertical_grid(x, bottom))
    for at, (name, value) in enumerate(bars.bars):
        middle = _TOP + row * (at + 1) - _BAR // 2
        width = round(x.place(value) - x.start, 1)
        label = (
            _text(left, middle - 16, name, "start")
            if above
            else _text(left - 10, middle + 4, name, "end")
        )
        body += [
            label,
            f'<rect class="b" x="{x.start:g}" y="{middle - 11}" width="{width:g}" height="22"/>',
            _text(x.place(value) + 6, middle + 4, f"{value:.4g}", "start"),
        ]
    body.append(_text((x.start + x.end) / 2, bottom + 42, bars.x_title, "middle", "t"))
    return _document(bars, canvas, bottom + 52, body)


def _document(figure: Figure | Bars, canvas: Canvas, height: int, body: Sequence[str]) -> str:
    name = f"{figure.name}{canvas.suffix}"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {canvas.width} {height}" '
            f'role="img" aria-labelledby="{name}-title {name}-desc">',
            f'<title id="{name}-title">{escape(figure.title)}</title>',
            f'<desc id="{name}-desc">{escape(figure.alternative)}</desc>',
            *body,
            "</svg>",
        )
    )


def _looks(series: Sequence[Series]) -> Iterator[tuple[_Look, Series]]:
    hues = [at if each.hue is None else each.hue for at, each in enumerate(series)]
    for at, each in enumerate(series):
        yield _Look(hues[at], hues[:at].count(hues[at])), each


def _extent(points: Sequence[Point], axis: int) -> Iterator[float]:
    for point in points:
        yield (point.x, point.y)[axis]
        yield from (point.x_range, point.y_range)[axis] or ()


def _axes(figure: Figure, x: Scale, y: Scale, canvas: Canvas) -> Iterator[str]:
    left, right, bottom = canvas.left, canvas.width - _RIGHT, _TOP + canvas.plot
    yield from _vertical_grid(x, bottom)
    for tick in y.ticks:
        at = y.place(tick)
        yield f'<path class="g" d="M{left} {at}H{right}"/>'
        yield _text(left - 8, at + 4, y.written(tick), "end")
    middle = _TOP + canvas.plot / 2
    yield _text((left + right) / 2, bottom + 40, figure.x_title, "middle", "t")
    yield (
        f'<text class="t" transform="translate(14 {middle:g}) rotate(-90)" '
        f'text-anchor="middle">{escape(figure.y_title)}</text>'
    )


def _vertical_grid(x: Scale, bottom: int) -> Iterator[str]:
    for tick in x.ticks:
        at = x.place(tick)
        yield f'<path class="g" d="M{at} {_TOP}V{bottom}"/>'
        yield _text(at, bottom + 18, x.written(tick), "middle")


def _line(look: _Look, series: Series, x: Scale, y: Scale) -> Iterator[str]:
    if len(series.line) > 1:
        corners = "L".join(f"{x.place(a)} {y.place(b)}" for a, b in series.line)
        dashed = f' stroke-dasharray="{look.dashes}"' if look.dashes else ""
        yield f'<path class="l" d="M{corners}"{dashed}/>'


def _points(look: _Look, series: Series, x: Scale, y: Scale) -> Iterator[str]:
    for point in series.points:
        across, down = x.place(point.x), y.place(point.y)
        if point.x_range:
            low, high = (x.place(end) for end in point.x_range)
            yield f'<path class="i" d="M{low} {down}H{high}"/>'
        if point.y_range:
            low, high = (y.place(end) for end in point.y_range)
            yield f'<path class="i" d="M{across} {low}V{high}"/>'
    for point in series.points:
        label = f"<title>{escape(_point_title(series, point))}</title>"
        yield look.marker(x.place(point.x), y.place(point.y), label)


def _point_title(series: Series, point: Point) -> str:
    bounds = f" [{point.y_range[0]:.3f}, {point.y_range[1]:.3f}]" if point.y_range else ""
    return f"{point.label or series.name}: {point.y:.3f}{bounds} at {point.x:.4g}"


def _group(look: _Look) -> str:
    return f'<g class="s{look.colour}">'


def _legend(series: Sequence[Series], canvas: Canvas) -> tuple[list[str], int]:
    """The names with their markers in rows below the axes, and the height of the rows."""
    left, right = float(canvas.left), canvas.width - _RIGHT
    parts, across, down, lines = [], left, _TOP + canvas.plot + 66, 1
    first = down
    for look, each in _looks(series):
        name = _wrapped(each.name, int((right - left - _SWATCH) / _LETTER))
        width = _SWATCH + _LETTER * max(map(len, name)) + 18
        if across > left and across + width > right:
            across, down, lines = left, down + _ROW + _LINE * (lines - 1), 1
        lines = max(lines, len(name))
        sample = Series(each.name, (), ((0.0, 0.0), (1.0, 0.0)))
        line = Scale(0.0, 1.0, across, across + 24, 1.0)
        flat = Scale(0.0, 1.0, down, down - 1, 1.0)
        parts += [_group(look), *_line(look, sample, line, flat)]
        parts += [look.marker(round(across + 12, 1), down), "</g>"]
        for number, part in enumerate(name):
            parts.append(_text(across + _SWATCH, down + 4 + _LINE * number, part, "start"))
        across += width
    return parts, down - first + _ROW + _LINE * (lines - 1)


def _wrapped(name: str, letters: int) -> list[str]:
    """The name in lines of at most this many letters, broken behind a space or a separator."""
    lines = []
    while len(name) > letters:
        cut = max((name.rfind(each, 0, letters) + 1 for each in " ,:="), default=0) or letters
        lines.append(name[:cut].rstrip())
        name = name[cut:].lstrip()
    return [*lines, name]


def _text(x: float, y: float, content: str, anchor: str, kind: str = "n") -> str:
    return (
        f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(content)}</text>'
    )
