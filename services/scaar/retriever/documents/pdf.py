"""Reader of the text of a PDF, page by page."""

import io
import re

from scaar.core.distributions import library_required
from scaar.retriever.documents.document import (
    Block,
    Document,
    DocumentUnreadable,
    ReadingLimits,
)
from scaar.retriever.documents.text import paragraphs_of

_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")


def read_pdf(content: bytes, limits: ReadingLimits) -> Document:
    """Return the paragraphs of every page.

    A word that is hyphenated at the end of a line is joined.

    Raises:
        DocumentUnreadable: the PDF is encrypted or damaged, or exceeds a limit.
    """
    with library_required("reading PDF", "documents"):
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError

    blocks: list[Block] = []
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentUnreadable("is encrypted: remove the password")
        if len(reader.pages) > limits.pages:
            counts = f"{len(reader.pages):,} pages, at most {limits.pages:,} are read"
            raise DocumentUnreadable(f"has {counts}: split it")
        title = str((reader.metadata and reader.metadata.title) or "")
        for number, page in enumerate(reader.pages, 1):
            text = _HYPHENATED.sub("", page.extract_text())
            blocks += [Block(each, page=number) for each in paragraphs_of(text) if each.strip()]
    except (DocumentUnreadable, MemoryError):
        raise
    except PyPdfError as error:
        raise DocumentUnreadable(f"is not a readable PDF: {error}") from error
    except ImportError as error:
        raise DocumentUnreadable(f"is encrypted in a way that needs a library: {error}") from error
    except Exception as error:
        # pypdf raises errors of every kind on damaged files.
        text = f"is damaged, or not a PDF ({type(error).__name__})"
        raise DocumentUnreadable(text) from error
    if not blocks:
        raise DocumentUnreadable("has no text: recognise the text of scanned pages (OCR) first")
    return Document(tuple(blocks), " ".join(title.split()))
