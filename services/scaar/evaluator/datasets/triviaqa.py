"""TriviaQA: quiz questions with aliases of their answers.

Joshi et al., "TriviaQA: A Large Scale Distantly Supervised Challenge Dataset for Reading
Comprehension", ACL 2017. The official files, of the reading comprehension and of the unfiltered
part alike, are one object ``{"Data": [{"QuestionId", "Question", "Answer": {...}}]}``; the plain
layout is read too. The test files have no answers and cannot be used.
"""

from collections.abc import Iterator
from dataclasses import replace

from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import is_plain, plain_row
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question

_ALIASES = ("Aliases", "NormalizedAliases")


def _read(source: Source) -> Iterator[Row]:
    for record in records_of(source.file, within="Data"):
        yield _of_dpr(plain_row(record)) if is_plain(record) else _row(record)


def _row(record: Record) -> Row:
    identity = record.text("QuestionId")
    if "Answer" not in record:
        record.wrong("Answer", "is missing: the test files have no answers and cannot be used")
    answer = record.part("Answer")
    aliases = (
        alias
        for field in _ALIASES
        if field in answer
        for alias in answer.texts(field, may_be_empty=True)
    )
    question = Question(
        id=identity,
        question=record.text("Question"),
        answers=distinct(iter((answer.text("Value"), *aliases))),
        entity=identity,
        labels=(("type", kind),) if (kind := answer.label("Type")) else (),
    )
    return Row(record.place, question)


def _of_dpr(row: Row) -> Row:
    """The row without the quotes that DPR's copy has around some questions."""
    question = row.question
    if question is None or not (question.question[:1] == question.question[-1:] == '"'):
        return row
    unquoted = question.question[1:-1].replace('""', '"')
    return replace(row, question=replace(question, question=unquoted)) if unquoted.strip() else row


TRIVIAQA = DatasetKind(
    name="triviaqa",
    title="TriviaQA",
    layout='{"Data": [{"QuestionId", "Question", "Answer": {"Value", "Aliases"}}]}',
    marks=frozenset({"QuestionId", "Question", "Answer"}),
    read=_read,
    exemplars="triviaqa",
    max_tokens=64,
)
