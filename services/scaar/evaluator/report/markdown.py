"""A report as Markdown, with its figures in files beside it."""

import re
from collections.abc import Iterator

from scaar.evaluator.report.model import (
    Bars,
    Cell,
    Column,
    Figure,
    Item,
    Report,
    Table,
    Verdict,
    interval_text,
    note_text,
    value_text,
)


def to_markdown(report: Report) -> str:
    """Return the whole report; a figure is an image with its text alternative."""
    return "\n".join(_lines(report)) + "\n"


def item_to_markdown(item: Item, *, figures: str, titled: bool = True) -> str:
    """Return a part of a report; ``figures`` is the folder of the figures.

    ``titled=False`` leaves out the title of a table.
    """
    lines = list(_item(item, figures))
    untitled = isinstance(item, Table) and not titled
    return "\n".join(lines[2:] if untitled else lines)


def _lines(report: Report) -> Iterator[str]:
    yield f"# {_escaped(report.title)}"
    yield ""
    yield _escaped(report.subtitle)
    if report.verdict:
        yield ""
        yield from _verdict(report.verdict)
    for section in report.sections:
        yield ""
        yield f"## {_escaped(section.title)}"
        for item in section.items:
            yield ""
            yield from _item(item, "figures")


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield f"**{_escaped(verdict.headline)}**"
    if verdict.caution:
        yield ""
        yield _escaped(verdict.caution)


def _item(item: Item, figures: str) -> Iterator[str]:
    match item:
        case Table():
            yield from _table(item)
        case Figure() | Bars():
            yield f"![{_escaped(item.alternative)}]({figures}/{item.name}.svg)"
            if isinstance(item, Figure) and item.note:
                yield ""
                yield _escaped(item.note)
        case _:
            yield _escaped(item)


def _table(table: Table) -> Iterator[str]:
    yield f"**{_escaped(table.title)}**"
    if table.rows:
        yield ""
        yield _row([_escaped(column.title) for column in table.columns])
        yield _row(["---" if column.decimals is None else "---:" for column in table.columns])
        for cells in table.rows:
            pairs = zip(cells, table.columns, strict=True)
            yield _row([_cell(cell, column) for cell, column in pairs])
    if table.note:
        yield ""
        yield _escaped(table.note)


def _cell(cell: Cell, column: Column) -> str:
    note = note_text(cell)
    parts = (value_text(cell, column), interval_text(cell, column), f"({note})" if note else "")
    # A narrow column breaks between a value and its interval, not inside the interval.
    value, interval, remark = (_escaped(part) for part in parts)
    value = f"**{value}**" if cell.best else value
    return " ".join(part for part in (value, interval.replace(" ", "\u00a0"), remark) if part)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """The text as itself: no markup of its own, no end of a cell or line."""
    escaped = re.sub(r"([\\`*|<>~]|(?<!\w)_|_(?!\w)|(?<=\])[(\[:])", r"\\\1", text)
    return " ".join(escaped.split())
