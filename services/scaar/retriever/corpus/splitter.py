"""Splitting of documents into passages."""

from collections.abc import Iterator

from scaar.core.errors import InvalidRequest
from scaar.core.filters import MAX_ID_CHARACTERS
from scaar.core.types import Passage

PASSAGE_WORDS = 100
"""Number of words per passage, as in DPR's Wikipedia passages."""


def split_document(document: Passage, *, words: int = PASSAGE_WORDS) -> Iterator[Passage]:
    """Split a document into consecutive passages of ``words`` words; the last one may be shorter.

    Each passage has the document's title and fields, and its id with the suffix ``-1``, ``-2`` and
    so on. White space becomes single spaces.

    Raises:
        InvalidRequest: the id of a passage is too long.
    """
    all_words = document.text.split()
    for number, start in enumerate(range(0, len(all_words), words), 1):
        passage_id = f"{document.id}-{number}"
        if len(passage_id) > MAX_ID_CHARACTERS:
            limit = f"must leave room for -{number} in {MAX_ID_CHARACTERS} characters"
            raise InvalidRequest.of("id", f"{document.id[:40]!r}... {limit}")
        text = " ".join(all_words[start : start + words])
        yield Passage(passage_id, document.title, text, document.metadata)
