"""IIRC: questions about a paragraph, with answers in the articles that it links to.

Ferguson et al., "IIRC: A Dataset of Incomplete Information Reading Comprehension Questions", EMNLP
2020. The official files are a JSON array of articles, each with its links and questions. There
are four types of answers:

    span     the spans together are the answer: "Graz, Linz"
    value    a number, with and without its unit
    binary   yes or no
    none     the question has no answer: it is left out and counted, as in DRAGIN

The passages are those of ``context_articles.json``: an object that maps titles to articles.
"""

import html
import json
import re
from collections.abc import Iterator

from scaar.core.errors import InvalidRequest
from scaar.core.prompts.untrusted import one_line
from scaar.core.types import Passage
from scaar.evaluator.datasets.contexts import pooled
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import records_of, text_of
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question

MAIN = "main"
"""What the official files call the paragraph that raised the question."""

_TAG = re.compile(r"<[^>]*>")


def _read(source: Source) -> Iterator[Row]:
    for article in records_of(source.file):
        for entry in article.parts("questions"):
            yield _row(article, entry)


def _row(article: Record, entry: Record) -> Row:
    answer = entry.part("answer")
    kind = answer.text("type")
    if kind == "none":
        return Row(entry.place, None, "has no answer")
    identity, title = entry.identity("qid"), article.text("title")
    question = Question(
        id=identity,
        question=entry.text("question"),
        answers=_answers(answer, kind),
        entity=title,
        labels=(("type", kind),),
        supports=_supports(entry, title),
    )
    return Row(entry.place, question)


def _answers(answer: Record, kind: str) -> tuple[str, ...]:
    if kind == "span":
        spans = distinct(span.text("text") for span in answer.parts("answer_spans"))
        if not spans:
            answer.wrong("answer_spans", "must have at least one span")
        return (", ".join(spans),)
    if kind == "value":
        value, unit = answer.identity("answer_value"), answer.label("answer_unit")
        return distinct(iter((f"{value} {unit}".strip(), value)))
    if kind == "binary":
        verdict = answer.text("answer_value").lower()
        if verdict not in ("yes", "no"):
            answer.wrong("answer_value", f"must be yes or no, not {verdict!r}")
        return (verdict,)
    answer.wrong("type", f"must be span, value, binary or none, not {kind!r}")


def _supports(entry: Record, title: str) -> tuple[str, ...]:
    if "context" not in entry:
        return ()
    named = (part.text("passage") for part in entry.parts("context"))
    return distinct(title if name == MAIN else name for name in named)


def _passages(source: Source) -> Iterator[Passage]:
    path = source.file
    try:
        articles = json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest.of("path", f"{path} is not JSON") from error
    if not isinstance(articles, dict):
        text = "must be an object that maps titles to articles, like context_articles.json"
        raise InvalidRequest.of("path", f"{path} {text}")
    for title, article in articles.items():
        if not isinstance(article, str):
            raise InvalidRequest.of(f"{path.name}, {title}", "must be the text of an article")
    yield from pooled(
        (one_line(title), one_line(html.unescape(_TAG.sub("", article))))
        for title, article in articles.items()
    )


IIRC = DatasetKind(
    name="iirc",
    title="IIRC",
    layout='{"title", "text", "links", "questions": [{"qid", "question", "answer": {"type"}}]}',
    marks=frozenset({"title", "text", "links", "questions"}),
    read=_read,
    exemplars="iirc",
    max_tokens=128,
    passages=_passages,
)
