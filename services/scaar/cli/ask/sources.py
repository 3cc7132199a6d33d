"""The sources of an answer: the documents of the passages that support its sentences."""

from collections.abc import Iterable

from scaar.core.text.passage_source import source_text
from scaar.core.types import AnswerEvent, PassagesRetrieved, RetrievedPassage, SentenceAccepted


class AnswerSources:
    """Collects the sources of one answer from its events."""

    def __init__(self) -> None:
        self._passages: dict[str, RetrievedPassage] = {}
        self._read: dict[str, None] = {}
        self._supporting: dict[str, None] = {}
        self._unsupported: list[str] = []

    def add(self, event: AnswerEvent) -> None:
        """Take up an event."""
        if isinstance(event, PassagesRetrieved):
            self._passages |= {passage.id: passage for passage in event.passages}
        elif isinstance(event, SentenceAccepted):
            self._read |= dict.fromkeys(event.accepted.passage_ids)
            self._supporting |= dict.fromkeys(event.accepted.supporting_passage_ids)
            if event.accepted.lacks_support:
                self._unsupported.append(event.accepted.text.strip())

    def supporting(self) -> list[str]:
        """Return each source once, in the order in which it first supports a sentence."""
        return self._texts(self._supporting)

    def read(self) -> list[str]:
        """Return the sources of all passages that a sentence was written from, each once."""
        return self._texts(self._read)

    def unsupported(self) -> list[str]:
        """Return the sentences that were written from passages of which none supports them."""
        return list(filter(None, self._unsupported))

    def _texts(self, names: Iterable[str]) -> list[str]:
        passages = (self._passages[name] for name in names if name in self._passages)
        return list(dict.fromkeys(filter(None, map(source_text, passages))))
