"""The place of a passage in the documents."""

import pytest

from scaar.core.text.passage_source import source_text
from scaar.core.types import MetadataField, Passage


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"section": "Leave"}, ""),
        ({"source": "leave.md"}, "leave.md"),
        (
            {"source": "leave.md", "section": "Leave > Parental leave"},
            "leave.md › Leave › Parental leave",
        ),
        ({"source": "rules.pdf", "page": "7"}, "rules.pdf, page 7"),
    ],
)
def test_a_passage_of_a_document_has_file_headings_and_page(
    fields: dict[str, str], text: str
) -> None:
    metadata = tuple(MetadataField(name, (value,)) for name, value in fields.items())
    assert source_text(Passage("p", "title", "text", metadata)) == text
