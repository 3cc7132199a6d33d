"""Tables of a page: columns with a unit and a meaning, and cells that are text, never markup."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, what its values are, and their unit."""

    heading: str
    meaning: str
    unit: str = ""
    number: bool = False

    @property
    def label(self) -> str:
        """The heading with the unit."""
        return f"{self.heading} ({self.unit})" if self.unit else self.heading


@dataclass(frozen=True, slots=True)
class Mark:
    """A state in one or two words. ``tone`` is ``good``, ``warn``, ``bad`` or ``plain``.

    The sign repeats the tone, so that colour is never the only difference.
    """

    text: str
    tone: str = "plain"

    @property
    def sign(self) -> str:
        """The sign of the tone."""
        return {"good": "✓", "warn": "!", "bad": "✕"}.get(self.tone, "·")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. ``note`` qualifies the text, ``time`` is its RFC 3339 form if it is a time.

    ``foreign`` text was written by a user or a model: a page isolates its direction.
    """

    text: str = ""
    href: str = ""
    note: str = ""
    marks: tuple[Mark, ...] = ()
    time: str = ""
    code: bool = False
    foreign: bool = False


NOTHING = Cell("–")
"""The cell of a value that does not exist."""


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table; the first cell of a row names the row."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.caption!r} lacks a cell of a column")


def data_table(
    caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]
) -> DataTable:
    """Return a table.

    Raises:
        ValueError: a row has another number of cells than there are columns.
    """
    return DataTable(caption, tuple(columns), tuple(tuple(row) for row in rows))
