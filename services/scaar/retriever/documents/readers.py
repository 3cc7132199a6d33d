"""Readers of documents by the suffix of the file."""

from collections.abc import Callable, Mapping

from scaar.retriever.documents.document import Document, DocumentUnreadable, ReadingLimits
from scaar.retriever.documents.docx import read_docx
from scaar.retriever.documents.html import read_html
from scaar.retriever.documents.markdown import read_markdown
from scaar.retriever.documents.pdf import read_pdf
from scaar.retriever.documents.text import read_text

Reader = Callable[[bytes, ReadingLimits], Document]

READERS: Mapping[str, Reader] = {
    ".docx": read_docx,
    ".htm": read_html,
    ".html": read_html,
    ".markdown": read_markdown,
    ".md": read_markdown,
    ".pdf": read_pdf,
    ".text": read_text,
    ".txt": read_text,
    ".xhtml": read_html,
}


def read_document(suffix: str, content: bytes, limits: ReadingLimits) -> Document:
    """Return the document of a file with this suffix, which is one of :data:`READERS`.

    Raises:
        DocumentUnreadable: the content is empty, damaged or too large.
        CapabilityMissing: the library of the format is not installed.
    """
    if not content.strip():
        raise DocumentUnreadable("is empty")
    document = READERS[suffix](content, limits)
    if not document.blocks:
        raise DocumentUnreadable("has no text")
    if sum(len(each.text) for each in document.blocks) > limits.unpacked_bytes:
        raise DocumentUnreadable(f"has more than {limits.unpacked_bytes / 1e6:g} MB of text")
    return document
