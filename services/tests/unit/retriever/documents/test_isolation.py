import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from scaar.retriever.documents.document import Block, DocumentUnreadable, ReadingLimits
from scaar.retriever.documents.isolation import IsolatedReader

from .made_files import make_docx, make_pdf


@pytest.fixture
def reader() -> Iterator[IsolatedReader]:
    """A reader with its usual process."""
    with closing(IsolatedReader(ReadingLimits())) as reader:
        yield reader


def test_documents_and_errors_come_from_the_process(reader: IsolatedReader) -> None:
    found = reader.read(".md", b"---\nurl: https://a.example\n---\n# A\n\nOne.\n")
    assert (found.title, found.url, found.blocks) == (
        "A",
        "https://a.example",
        (Block("One.", ("A",)),),
    )
    with pytest.raises(DocumentUnreadable, match="is not UTF-8 at byte 0"):
        reader.read(".txt", b"\xff")
    assert reader.read(".pdf", make_pdf(["text"])).blocks[0].page == 1
    assert reader.read(".docx", make_docx()).title == "Mountains"


def test_a_document_that_takes_too_long_is_refused() -> None:
    command = (sys.executable, "-c", "import time; time.sleep(600)")
    with closing(IsolatedReader(ReadingLimits(seconds=0.1), command=command)) as reader:
        for _ in range(2):
            with pytest.raises(DocumentUnreadable, match="takes longer than 0.1 s"):
                reader.read(".txt", b"text")


def test_a_document_that_ends_the_process_is_refused() -> None:
    command = (sys.executable, "-c", "import os; os._exit(11)")
    with (
        closing(IsolatedReader(ReadingLimits(), command=command)) as reader,
        pytest.raises(DocumentUnreadable, match="stopped the process"),
    ):
        reader.read(".txt", b"text")


def test_a_document_that_needs_too_much_memory_is_refused() -> None:
    limits = ReadingLimits(memory_bytes=300_000_000)
    with closing(IsolatedReader(limits)) as reader:
        assert reader.read(".txt", b"small").blocks
        with pytest.raises(DocumentUnreadable):
            reader.read(".txt", b"a " * 100_000_000)
        assert reader.read(".txt", b"small again").blocks
