"""The sources of an answer: the documents of the passages that its sentences were written from."""

from scaar.core.types import (
    HEADING_SEPARATOR,
    AnswerEvent,
    PassagesRetrieved,
    RetrievedPassage,
    SentenceAccepted,
)

_BETWEEN = " › "


class AnswerSources:
    """Collects the sources of one answer from its events."""

    def __init__(self) -> None:
        self._passages: dict[str, RetrievedPassage] = {}
        self._used: dict[str, None] = {}

    def add(self, event: AnswerEvent) -> None:
        """Take up an event."""
        if isinstance(event, PassagesRetrieved):
            self._passages |= {passage.id: passage for passage in event.passages}
        elif isinstance(event, SentenceAccepted):
            self._used |= dict.fromkeys(event.accepted.passage_ids)

    def texts(self) -> list[str]:
        """Return each source once, in the order in which the answer used them."""
        passages = (self._passages[used] for used in self._used if used in self._passages)
        return list(dict.fromkeys(filter(None, map(source_text, passages))))


def source_text(passage: RetrievedPassage) -> str:
    """Return file, headings and page of a passage; empty for one that is of no document."""
    fields = {field.name: field.values[0] for field in passage.metadata if field.values}
    if not (source := fields.get("source")):
        return ""
    headings = fields["section"].split(HEADING_SEPARATOR) if "section" in fields else []
    place = _BETWEEN.join((source, *headings))
    return f"{place}, page {fields['page']}" if "page" in fields else place
