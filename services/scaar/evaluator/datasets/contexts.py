"""Paragraphs in the records of questions, as in HotpotQA and 2WikiMultihopQA."""

import hashlib
from collections.abc import Iterable, Iterator

from scaar.core.prompts.untrusted import one_line
from scaar.core.types import Passage
from scaar.evaluator.datasets.kind import Source
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record, distinct

Paragraph = tuple[str, str]

MAX_TITLE_IN_ID = 200
"""Maximum number of characters of a title in the id of its passage."""


def supports_of(record: Record) -> tuple[str, ...]:
    """Return the distinct titles of the paragraphs that contain the answer.

    Official as ``[[title, sentence], ...]``; in the Hugging Face layout as ``{"title": [...]}``.
    """
    if isinstance(record.fields.get("supporting_facts"), dict):
        return record.part("supporting_facts").texts("title", may_be_empty=True)
    facts = record.pairs("supporting_facts")
    return distinct(one_line(str(title)) for title, _ in facts)


def paragraphs_of(record: Record) -> Iterator[Paragraph]:
    """Yield title and text of each paragraph of a question, with its sentences joined.

    Official as ``[[title, sentences], ...]``; in the Hugging Face layout as
    ``{"title": [...], "sentences": [[...], ...]}``.
    """
    if isinstance(record.fields.get("context"), dict):
        part = record.part("context")
        titles, sentences = part.fields.get("title"), part.fields.get("sentences")
        if not isinstance(titles, list) or not isinstance(sentences, list):
            record.wrong("context", "must have the lists title and sentences")
        if len(titles) != len(sentences):
            record.wrong("context", f"has {len(titles)} titles and {len(sentences)} texts")
        found = tuple(zip(titles, sentences, strict=True))
    else:
        found = record.pairs("context")
    for title, text in found:
        if not isinstance(title, str) or not isinstance(text, list):
            record.wrong("context", "must be pairs of a title and its sentences")
        yield one_line(title), " ".join(one_line(str(sentence)) for sentence in text).strip()


def context_passages(source: Source) -> Iterator[Passage]:
    """Yield the passages of all paragraphs of a file; see :func:`pooled`."""
    records = records_of(source.file)
    yield from pooled(paragraph for record in records for paragraph in paragraphs_of(record))


def pooled(paragraphs: Iterable[Paragraph]) -> Iterator[Passage]:
    """Yield a passage for each title, with the title as its id, which supports refer to.

    Of several texts with one title the first is used. Paragraphs without title or text are left
    out.
    """
    seen: set[str] = set()
    for title, text in paragraphs:
        if title and text and title not in seen:
            seen.add(title)
            yield Passage(title, title, text)


def passage_of(title: str, text: str) -> Passage:
    """Return the passage of a paragraph whose title does not identify it.

    The id is the title and a digest of the text: the same in every record and every file.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Passage(f"{title[:MAX_TITLE_IN_ID]} {digest}".strip(), title, text)


def distinct_passages(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Yield each passage once."""
    seen: set[str] = set()
    for passage in passages:
        if passage.id not in seen:
            seen.add(passage.id)
            yield passage
