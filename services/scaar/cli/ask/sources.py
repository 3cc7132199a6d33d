"""The sources of an answer: the documents of the passages that its sentences were written from."""

from scaar.core.text.passage_source import source_text
from scaar.core.types import AnswerEvent, PassagesRetrieved, RetrievedPassage, SentenceAccepted


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
