"""Tables on standard output: for a terminal, or as JSON lines, CSV or Markdown."""

import csv
import enum
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from scaar.cli.json_lines import print_json_lines

if TYPE_CHECKING:
    from scaar.evaluator.statistics.estimate import Estimate

_UNBOUNDED_WIDTH = 10_000


class TableFormat(enum.StrEnum):
    """Output format of a table."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


Format = Annotated[
    TableFormat | None,
    typer.Option(
        "--format",
        help="Output format; json prints one object per line. Default: table on a terminal, "
        "markdown elsewhere.",
    ),
]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the bounds of its confidence interval; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: "Estimate | None") -> "Interval":
        """Return the interval of an estimate; it is undefined for None."""
        return cls(None, None, None) if found is None else cls(found.value, found.low, found.high)


Value = str | int | float | bool | Interval | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in JSON and CSV, its heading for readers, and the text of a value.

    JSON and CSV get the values as they are; an interval becomes ``name``, ``name_low`` and
    ``name_high``.
    """

    name: str
    heading: str = ""
    text: Callable[[Value], str] = str
    right: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of values; ``records`` replace the rows in JSON."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    records: Sequence[Mapping[str, object]] | None = None

    def headings(self) -> list[str]:
        """The headings of the columns."""
        return [column.heading or column.name.replace("_", " ") for column in self.columns]

    def texts(self) -> list[list[str]]:
        """The cells of every row, as readers see them."""
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def objects(self) -> list[dict[str, Value]]:
        """A flat object for every row."""
        return [self._object(row) for row in self.rows]

    def _object(self, row: Sequence[Value]) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for column, value in zip(self.columns, row, strict=True):
            if isinstance(value, Interval):
                found[column.name] = value.value
                found[f"{column.name}_low"] = value.low
                found[f"{column.name}_high"] = value.high
            else:
                found[column.name] = value
        return found


def output_format(chosen: TableFormat | None) -> TableFormat:
    """Return the format of ``--format``, or the default for standard output."""
    if chosen is not None:
        return chosen
    return TableFormat.TABLE if Console().is_terminal else TableFormat.MARKDOWN


def print_table(table: Table, chosen: TableFormat | None = None) -> None:
    """Print a table on standard output in the format of ``--format``."""
    match output_format(chosen):
        case TableFormat.TABLE:
            show_table(table, Console(highlight=False))
        case TableFormat.JSON:
            print_json_lines(table.objects() if table.records is None else table.records)
        case TableFormat.CSV:
            sys.stdout.write(_csv(table))
        case TableFormat.MARKDOWN:
            for row in (table.headings(), ["---"] * len(table.columns), *table.texts()):
                print(f"| {' | '.join(map(_markdown_cell, row))} |")


def show_table(table: Table, console: Console) -> None:
    """Print a table on a console; its first column wraps where the terminal is narrow."""
    drawn = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    last = len(table.columns) - 1
    for place, (column, heading) in enumerate(zip(table.columns, table.headings(), strict=True)):
        wraps = place == 0 or (place == last and not column.right)
        drawn.add_column(
            Text(heading),
            justify="right" if column.right else "left",
            no_wrap=not wraps,
            overflow="fold" if wraps else "ellipsis",
        )
    for cells in table.texts():
        drawn.add_row(*(Text(cell) for cell in cells))
    if not console.is_terminal:
        console = Console(file=console.file, width=_UNBOUNDED_WIDTH, highlight=False)
    console.print(drawn)


def facts_table(facts: Iterable[tuple[str, object]], record: Mapping[str, object]) -> Table:
    """Return a table of names and values; in JSON it is the one record."""
    columns = (Column("name", right=False), Column("value", right=False))
    return Table(columns, [(name, str(value)) for name, value in facts], [record])


def number(decimals: int, *, sign: str = "") -> Callable[[Value], str]:
    """Return a formatter of numbers with that many decimals; ``-`` where there is none."""

    def text(value: Value) -> str:
        if value is None:
            return "-"
        assert isinstance(value, int | float)
        return f"{value:{sign}.{decimals}f}"

    return text


def interval(decimals: int, *, sign: str = "") -> Callable[[Value], str]:
    """Return a formatter of intervals: ``0.512 [0.480, 0.544]``; ``-`` where there is none."""

    def text(value: Value) -> str:
        assert isinstance(value, Interval)
        if value.value is None:
            return "-"
        low, high = (f"{each or 0:{sign}.{decimals}f}" for each in (value.low, value.high))
        return f"{value.value:{sign}.{decimals}f} [{low}, {high}]"

    return text


def _csv(table: Table) -> str:
    """The table as CSV, its lines ended by a line feed; no value is an empty cell."""
    objects = table.objects()
    names = list(objects[0]) if objects else [column.name for column in table.columns]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for each in objects:
        writer.writerow(["" if value is None else value for value in each.values()])
    return text.getvalue()


def _markdown_cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
