"""The place of a passage in the documents, as a text for a reader."""

from scaar.core.types import HEADING_SEPARATOR, Passage, RetrievedPassage

BETWEEN = " › "
"""Between the file and the headings of a place."""


def source_text(passage: Passage | RetrievedPassage) -> str:
    """Return file, headings and page of a passage; empty for one that is of no document."""
    fields = {field.name: field.values[0] for field in passage.metadata if field.values}
    if not (source := fields.get("source")):
        return ""
    headings = fields["section"].split(HEADING_SEPARATOR) if "section" in fields else []
    place = BETWEEN.join((source, *headings))
    return f"{place}, page {fields['page']}" if "page" in fields else place
