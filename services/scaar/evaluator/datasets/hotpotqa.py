"""HotpotQA: questions over two paragraphs of Wikipedia.

Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering", EMNLP
2018. The official files are one JSON array; the Hugging Face layout and the plain one are read too.
"""

from collections.abc import Iterator

from scaar.evaluator.datasets.answers import yes_or_no_of_comparison
from scaar.evaluator.datasets.contexts import context_passages, supports_of
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import is_plain, labels_of, plain_row
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.records import Question

_LABELS = ("type", "level")


def _read(source: Source) -> Iterator[Row]:
    for record in records_of(source.file):
        yield plain_row(record, labels=_LABELS) if is_plain(record) else _row(record)


def _row(record: Record) -> Row:
    if "evidences" in record:
        record.wrong("evidences", "is a field of 2WikiMultihopQA, not of HotpotQA")
    identity = record.identity("_id" if "_id" in record else "id")
    question = Question(
        id=identity,
        question=record.text("question"),
        answers=(record.text("answer"),),
        entity=identity,
        labels=labels_of(record, _LABELS),
        supports=supports_of(record),
    )
    return Row(record.place, question)


HOTPOTQA = DatasetKind(
    name="hotpotqa",
    title="HotpotQA",
    layout='{"_id", "question", "answer", "supporting_facts", "context", "type", "level"}',
    marks=frozenset({"question", "answer", "supporting_facts", "context", "level"}),
    read=_read,
    exemplars="hotpotqa",
    max_tokens=100,
    extract=yes_or_no_of_comparison,
    passages=context_passages,
)
