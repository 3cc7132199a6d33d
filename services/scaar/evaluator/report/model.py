"""The options and the parts of a report, independent of its format: text, tables and figures."""

from dataclasses import dataclass

from scaar.evaluator.statistics import RESAMPLES


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table, with the bounds of its interval if it has one.

    ``note`` says why there is no value ("not reached") or describes the value. ``best`` marks the
    highest value among its rivals. ``link`` is the name of the report's listing of the questions
    behind the value.
    """

    value: float | str | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    best: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name in files, its title, and the format of its numbers.

    ``decimals`` None is text; ``signed`` numbers are differences. A ``pinned`` column stays in
    view beside the first one when a wide table is scrolled; only the second column can be pinned.
    """

    name: str
    title: str
    decimals: int | None = None
    signed: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table: every row has a cell for every column, and the first cell names the row."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a figure, with the intervals of its coordinates if there are any."""

    x: float
    y: float
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together, and the corners of the line that is drawn for them.

    ``hue`` selects colour and marker, so a policy with one hue looks the same in every figure.
    Series that share a hue in a figure differ by their dashes. None takes the series' position.
    """

    name: str
    points: tuple[Point, ...]
    line: tuple[tuple[float, float], ...] = ()
    hue: int | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """Points and lines over two axes. ``alternative`` describes the figure in words."""

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    alternative: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for every name, from 0. ``alternative`` describes the figure in words."""

    name: str
    title: str
    x_title: str
    bars: tuple[tuple[str, float], ...]
    alternative: str


Item = str | Table | Figure | Bars
"""A string is a paragraph."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report with its own title."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure of a verdict: its name, its value, and what qualifies the value."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The main finding of a report: a sentence, its figures, and how far to trust them."""

    headline: str
    facts: tuple[Fact, ...]
    caution: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A report; the same report gives the same bytes in every format.

    ``listings`` are tables of the questions behind cells. Only the HTML page has them: every score
    is in ``scores.csv``.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    verdict: Verdict | None = None
    listings: tuple[Table, ...] = ()

    def tables(self) -> tuple[Table, ...]:
        """Every table, in order."""
        return tuple(x for part in self.sections for x in part.items if isinstance(x, Table))

    def figures(self) -> tuple[Figure | Bars, ...]:
        """Every figure, in order."""
        return tuple(
            x for part in self.sections for x in part.items if isinstance(x, Figure | Bars)
        )


def value_text(cell: Cell, column: Column) -> str:
    """Return the formatted value, or the note if there is no value."""
    if cell.value is None:
        return cell.note
    if isinstance(cell.value, str) or column.decimals is None:
        return str(cell.value)
    return _number(cell.value, column)


def interval_text(cell: Cell, column: Column) -> str:
    """Return the interval in brackets; empty if there is none."""
    if cell.low is None or cell.high is None:
        return ""
    return f"[{_number(cell.low, column)}, {_number(cell.high, column)}]"


def note_text(cell: Cell) -> str:
    """Return the note beside a value; empty if the note replaces the value."""
    return cell.note if cell.value is not None else ""


def _number(value: float, column: Column) -> str:
    decimals = column.decimals or 0
    # A value that rounds to 0 has no sign.
    rounded = round(value, decimals) + 0.0
    sign = "+" if column.signed and rounded else ""
    return f"{rounded:{sign},.{decimals}f}"


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of the comparison in a report.

    Settings are chosen by ``measure``, and policies are compared in it. None is F1, or the first
    measure of a data set without F1. ``reference`` is the policy that the others are compared
    with. None is ``scaar``, else ``flare``, else the last policy.
    """

    measure: str | None = None
    reference: str | None = None
    resamples: int = RESAMPLES
    seed: int = 0
