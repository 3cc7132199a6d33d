"""MuSiQue: questions over two to four paragraphs of Wikipedia, composed of simpler questions.

Trivedi et al., "MuSiQue: Multihop Questions via Single-hop Question Composition", TACL 2022. The
official files are JSON lines. MuSiQue-Full has a second, unanswerable record for each question
(``answerable`` is false): these records are left out and counted.
"""

from collections.abc import Iterator

from scaar.core.types import Passage
from scaar.evaluator.datasets.contexts import distinct_passages, passage_of
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question


def _read(source: Source) -> Iterator[Row]:
    for record in records_of(source.file):
        if "answerable" in record and not record.truth("answerable"):
            yield Row(record.place, None, "has no answer")
        else:
            yield _row(record)


def _row(record: Record) -> Row:
    identity = record.text("id")
    supports = (
        _passage(part).id for part in record.parts("paragraphs") if part.truth("is_supporting")
    )
    question = Question(
        id=identity,
        question=record.text("question"),
        answers=distinct(
            iter((record.text("answer"), *record.texts("answer_aliases", may_be_empty=True)))
        ),
        entity=identity,
        # The ids begin with the shape of the composition: 2hop__, 3hop1__, 4hop3__.
        labels=(("type", identity.partition("__")[0]),) if "__" in identity else (),
        supports=distinct(supports),
    )
    return Row(record.place, question)


def _passage(paragraph: Record) -> Passage:
    return passage_of(paragraph.label("title"), paragraph.text("paragraph_text"))


def _passages(source: Source) -> Iterator[Passage]:
    yield from distinct_passages(
        _passage(part) for record in records_of(source.file) for part in record.parts("paragraphs")
    )


MUSIQUE = DatasetKind(
    name="musique",
    title="MuSiQue",
    layout='{"id", "question", "answer", "answer_aliases", "answerable", "paragraphs"}',
    marks=frozenset({"id", "question", "answer", "answer_aliases", "paragraphs"}),
    read=_read,
    exemplars="2wikimultihopqa",
    max_tokens=100,
    passages=_passages,
)
