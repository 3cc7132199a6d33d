"""A report as one page of HTML that needs nothing else: no script, no font, no other file."""

import re
from collections.abc import Collection, Iterator, Sequence
from html import escape

from scaar.evaluator.report.model import (
    Bars,
    Cell,
    Column,
    Figure,
    Item,
    Report,
    Section,
    Table,
    Verdict,
    interval_text,
    note_text,
    value_text,
)
from scaar.evaluator.report.style import PAGE_STYLE
from scaar.evaluator.report.svg import NARROW, WIDE, bars_svg, figure_svg

_LONG = 14
"""Minimum number of letters of a name that may break at a separator."""
_HALF = 5
"""Maximum number of columns of a table that takes half of a wide page."""


def to_html(report: Report) -> str:
    """Return the whole page."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    listed = {each.name for each in report.listings}
    titles = [section.title for section in report.sections]
    titles += ["Questions behind the scores"] if listed else []
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(report.title)}</title>"
    yield f"<style>\n{PAGE_STYLE}</style>"
    yield "<main>"
    yield f"<h1>{escape(report.title)}</h1>"
    yield f'<p class="faint">{escape(report.subtitle)}</p>'
    if report.verdict:
        yield from _verdict(report.verdict)
    yield '<nav aria-label="Sections of the report"><ul>'
    for at, title in enumerate(titles, 1):
        yield f'<li><a href="#part-{at}">{escape(title)}</a></li>'
    yield "</ul></nav>"
    for at, section in enumerate(report.sections, 1):
        yield from _section(at, section, listed)
    if listed:
        yield from _listings(len(titles), titles[-1], report.listings)
    yield "</main>"
    yield "</html>"


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield '<section class="verdict" aria-label="Verdict">'
    yield f'<p class="headline">{escape(verdict.headline)}</p>'
    yield "<dl>"
    for fact in verdict.facts:
        note = f'<dd class="ci">{escape(fact.note)}</dd>' if fact.note else ""
        value = f"<dd>{_breaking(escape(fact.value))}</dd>"
        yield f"<div><dt>{escape(fact.name)}</dt>{value}{note}</div>"
    yield "</dl>"
    if verdict.caution:
        yield f'<p class="warning">{escape(verdict.caution)}</p>'
    yield "</section>"


def _section(at: int, section: Section, listed: Collection[str]) -> Iterator[str]:
    yield f'<section aria-labelledby="part-{at}">'
    yield f'<h2 id="part-{at}">{escape(section.title)}</h2>'
    yield '<div class="grid">'
    for items, wide in _layout(section.items):
        yield f'<div class="{"wide" if wide else "half"}">'
        if isinstance(items[0], str):
            yield '<div class="prose">'
            for item in items:
                yield from _paragraph(str(item))
            yield "</div>"
        else:
            yield from _item(items[0], listed)
        yield "</div>"
    yield "</div></section>"


def _layout(items: Sequence[Item]) -> list[tuple[list[Item], bool]]:
    """The items in blocks, paragraphs together, and whether a block takes the whole width.

    Two consecutive blocks that fit into halves share a row of a wide page.
    """
    blocks: list[list[Item]] = []
    for item in items:
        if isinstance(item, str) and blocks and isinstance(blocks[-1][0], str):
            blocks[-1].append(item)
        else:
            blocks.append([item])
    placed: list[tuple[list[Item], bool]] = []
    at = 0
    while at < len(blocks):
        pair = at + 1 < len(blocks) and _fits_half(blocks[at]) and _fits_half(blocks[at + 1])
        for block in blocks[at : at + 2] if pair else blocks[at : at + 1]:
            placed.append((block, not pair))
        at += 2 if pair else 1
    return placed


def _fits_half(block: Sequence[Item]) -> bool:
    if isinstance(block[0], Table):
        return len(block[0].columns) <= _HALF
    return isinstance(block[0], Figure | Bars)


def _item(item: Item, listed: Collection[str]) -> Iterator[str]:
    match item:
        case Table():
            yield from _table(item, listed)
        case Figure():
            yield from _figure(item, figure_svg(item, WIDE), figure_svg(item, NARROW))
        case Bars():
            yield from _figure(item, bars_svg(item, WIDE), bars_svg(item, NARROW))
        case _:
            yield from _paragraph(item)


def _paragraph(text: str) -> Iterator[str]:
    kind = ' class="warning"' if text.startswith("Warning:") else ""
    yield f"<p{kind}>{escape(text)}</p>"


def _figure(figure: Figure | Bars, wide: str, narrow: str) -> Iterator[str]:
    yield f"<figure><figcaption>{escape(figure.title)}</figcaption>"
    yield f'<div class="desktop">{wide}</div>'
    yield f'<div class="phone">{narrow}</div>'
    if isinstance(figure, Figure) and figure.note:
        yield f'<p class="note">{escape(figure.note)}</p>'
    yield f"<details><summary>In words</summary>{escape(figure.alternative)}</details></figure>"


def _table(table: Table, listed: Collection[str] = ()) -> Iterator[str]:
    yield f'<h3 id="{table.name}-title">{escape(table.title)}</h3>'
    if table.rows:
        title = f"{table.name}-title"
        yield f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{title}">'
        yield f'<table aria-labelledby="{title}">'
        heads = "".join(
            f'<th scope="col"{_kind(column)}>{_breaking(escape(column.title))}</th>'
            for column in table.columns
        )
        yield f"<thead><tr>{heads}</tr></thead><tbody>"
        for cells in table.rows:
            yield f"<tr>{''.join(_cells(cells, table.columns, listed))}</tr>"
        yield "</tbody></table></div>"
    if table.note:
        yield f'<p class="note">{escape(table.note)}</p>'


def _cells(
    cells: tuple[Cell, ...], columns: tuple[Column, ...], listed: Collection[str]
) -> Iterator[str]:
    name, *rest = zip(cells, columns, strict=True)
    yield f'<th scope="row">{_content(*name, listed)}</th>'
    for cell, column in rest:
        yield f"<td{_kind(column)}>{_content(cell, column, listed)}</td>"


def _content(cell: Cell, column: Column, listed: Collection[str]) -> str:
    written = _breaking(escape(value_text(cell, column)))
    if cell.value is None:
        return f'<span class="faint">{written}</span>'
    if cell.link in listed:
        written = f'<a href="#{cell.link}">{written}</a>'
    if cell.best:
        written = f'<strong class="best">{written}</strong>'
    interval, note = interval_text(cell, column), note_text(cell)
    return "".join(
        (
            written,
            f' <span class="ci">{interval}</span>' if interval else "",
            f' <span class="why">{escape(note)}</span>' if note else "",
        )
    )


def _listings(at: int, title: str, listings: Sequence[Table]) -> Iterator[str]:
    yield f'<section aria-labelledby="part-{at}">'
    yield f'<h2 id="part-{at}">{escape(title)}</h2>'
    yield (
        "<p>Open a list here, or follow the link of a value in a table. "
        "<code>scaar eval show DIR --question ID</code> shows every decision about a question.</p>"
    )
    for table in listings:
        yield f'<section class="listing" id="{table.name}">'
        yield f'<a class="open" href="#{table.name}">{escape(table.title)}</a>'
        yield '<div class="rows">'
        yield from _table(table)
        yield "</div></section>"
    yield "</section>"


def _breaking(written: str) -> str:
    """A long name that may break after a separator; any other text as it is."""
    if len(written) <= _LONG or " " in written:
        return written
    return re.sub("[:,_]", r"\g<0><wbr>", written)


def _kind(column: Column) -> str:
    kinds = ["n"] if column.decimals is not None else []
    kinds += ["pin"] if column.pinned else []
    return f' class="{" ".join(kinds)}"' if kinds else ""
