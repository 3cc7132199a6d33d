"""Reader of Word's docx: headings by their styles, paragraphs and tables."""

import io
from typing import TYPE_CHECKING

from scaar.core.distributions import library_required
from scaar.retriever.documents.document import (
    Document,
    DocumentBuilder,
    DocumentUnreadable,
    ReadingLimits,
)
from scaar.retriever.documents.unpacking import repack

if TYPE_CHECKING:
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_HEADING = "heading "
_LEVELS = 6
_CELL = " | "


def read_docx(content: bytes, limits: ReadingLimits) -> Document:
    """Return the sections of a docx, without headers, footers, notes and comments.

    Raises:
        DocumentUnreadable: the file is damaged, or unpacks to more than the limit.
    """
    with library_required("reading docx", "documents"):
        import docx
        from docx.table import Table

    safe = repack(content, limits.unpacked_bytes)
    builder = DocumentBuilder()
    title = ""
    try:
        opened = docx.Document(io.BytesIO(safe))
        title = opened.core_properties.title or ""
        for each in opened.iter_inner_content():
            if isinstance(each, Table):
                _add_table(builder, each)
            elif _style(each) == "title" and not title:
                title = each.text
            else:
                _add_paragraph(builder, each)
    except MemoryError:
        raise
    except Exception as error:
        # python-docx raises errors of every kind on damaged files.
        text = f"is damaged, or not a docx ({type(error).__name__})"
        raise DocumentUnreadable(text) from error
    return builder.document(title)


def _add_paragraph(builder: DocumentBuilder, paragraph: "Paragraph") -> None:
    style = _style(paragraph)
    level = style.removeprefix(_HEADING)
    if style.startswith(_HEADING) and level.isdecimal() and int(level):
        builder.heading(min(int(level), _LEVELS), paragraph.text)
    else:
        builder.block(paragraph.text)


def _add_table(builder: DocumentBuilder, table: "Table") -> None:
    for row in table.rows:
        # A merged cell is in the row once for each column.
        cells = {id(cell._tc): cell.text for cell in row.cells}
        builder.block(_CELL.join(cells.values()))


def _style(paragraph: "Paragraph") -> str:
    style = paragraph.style
    return (style.name or "").lower() if style is not None else ""
