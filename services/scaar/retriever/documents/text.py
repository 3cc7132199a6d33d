"""Reader of plain text, whose paragraphs are separated by blank lines."""

import re

from scaar.retriever.documents.document import (
    Document,
    DocumentBuilder,
    DocumentUnreadable,
    ReadingLimits,
)

_BLANK_LINES = re.compile(r"\n\s*\n")


def read_text(content: bytes, limits: ReadingLimits) -> Document:
    """Return the paragraphs of a plain text."""
    builder = DocumentBuilder()
    for paragraph in paragraphs_of(decode(content)):
        builder.block(paragraph)
    return builder.document()


def paragraphs_of(text: str) -> list[str]:
    """Return the parts of a text between blank lines."""
    return _BLANK_LINES.split(text)


def decode(content: bytes) -> str:
    """Return UTF-8 as a text, with line feeds at the ends of lines.

    Raises:
        DocumentUnreadable: the content is not UTF-8.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentUnreadable(f"is not UTF-8 at byte {error.start:,}: convert it") from error
    if "\0" in text:
        raise DocumentUnreadable("contains zero bytes: it is not a text file")
    return text.replace("\r\n", "\n").replace("\r", "\n")
