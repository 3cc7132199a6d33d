"""Splitting of documents into passages of bounded size."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby

from scaar.core.filters import MAX_VALUE_CHARACTERS
from scaar.core.text.sentences import split_sentences
from scaar.core.text.words import join_words, split_words
from scaar.core.types import HEADING_SEPARATOR, MetadataField, Passage
from scaar.retriever.documents.document import Block, Document
from scaar.retriever.validation import MAX_TITLE_CHARACTERS, without_control_characters

PASSAGE_WORDS = 120
"""Default of the maximum number of words of a passage."""
LONGEST_WORD = 256
"""Maximum number of characters of a word; a longer run of characters is cut."""
_ID_CHARACTERS = 32


def split_document(
    document: Document, source: str, *, name: str = "", url: str = "", words: int = PASSAGE_WORDS
) -> Iterator[Passage]:
    """Yield the passages of a document, in order, each of 1 to ``words`` words.

    A passage is of one section and one page. It ends at the end of a block, else of a sentence,
    else of a word. White space becomes single spaces. ``name`` is the title of a document without
    one. Ids are digests of source and text: passages of the same text have the same id.
    """
    title = document.title or name
    for (headings, page), blocks in groupby(document.blocks, _place):
        path = headings[1:] if headings[:1] == (document.title,) else headings
        full_title = HEADING_SEPARATOR.join(filter(None, (_clean(title), *map(_clean, path))))
        fields = [("source", source), ("section", HEADING_SEPARATOR.join(map(_clean, headings)))]
        fields += [("page", str(page) if page else ""), ("url", url)]
        metadata = tuple(
            MetadataField(field, (value[:MAX_VALUE_CHARACTERS].strip(),))
            for field, value in fields
            if value
        )
        for text in pack([each.text for each in blocks], words):
            digest = sha256(f"{source}\0{text}".encode()).hexdigest()[:_ID_CHARACTERS]
            yield Passage(digest, full_title[:MAX_TITLE_CHARACTERS], text, metadata)


def pack(blocks: list[str], words: int) -> Iterator[str]:
    """Yield the words of the blocks in order, in texts of at most ``words`` words."""
    taken: list[str] = []
    for block in blocks:
        for piece in _pieces(block, words):
            if taken and len(taken) + len(piece) > words:
                yield join_words(taken)
                taken = []
            taken += piece
    if taken:
        yield join_words(taken)


def _pieces(block: str, words: int) -> Iterator[list[str]]:
    """Yield a block's words together if they fit into a passage, else by sentence, else cut."""
    found = _words(block)
    if len(found) <= words:
        yield found
        return
    for sentence in split_sentences(_clean(block)):
        found = _words(sentence)
        for start in range(0, len(found), words):
            yield found[start : start + words]


def _words(text: str) -> list[str]:
    return [
        word.text[start : start + LONGEST_WORD]
        for word in split_words(_clean(text))
        for start in range(0, len(word.text), LONGEST_WORD)
    ]


def _clean(text: str) -> str:
    """Return the text without what passages must not contain, white space as single spaces."""
    text = text.encode("utf-8", "replace").decode()  # unpaired surrogates
    return " ".join(without_control_characters(text).split())


def _place(block: Block) -> tuple[tuple[str, ...], int | None]:
    return block.headings, block.page
