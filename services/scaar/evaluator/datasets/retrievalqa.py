"""RetrievalQA: questions that need retrieval, and questions that language models answer alone.

Zhang et al., "RetrievalQA: Assessing Adaptive Retrieval-Augmented Generation for Short-form
Open-Domain Question Answering", Findings of ACL 2024. The official file is JSON lines. The label
``retrieval`` is ``needed`` where ``param_knowledge_answerable`` is 0, else ``not needed``; the
authors' file of 250 questions has no such field, and its questions no such label. The passages are
those that the authors retrieved for each question; some do not have the answer.
"""

from collections.abc import Iterator

from scaar.core.types import Passage
from scaar.evaluator.datasets.contexts import distinct_passages, passage_of
from scaar.evaluator.datasets.kind import MATCHES, DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.records import Question

_ALONE = "param_knowledge_answerable"


def _read(source: Source) -> Iterator[Row]:
    for record in records_of(source.file):
        yield _row(record)


def _row(record: Record) -> Row:
    identity = record.identity("question_id")
    question = Question(
        id=identity,
        question=record.text("question"),
        answers=record.texts("ground_truth"),
        entity=identity,
        labels=(("source", record.text("data_source")), *_retrieval(record)),
    )
    return Row(record.place, question)


def _retrieval(record: Record) -> tuple[tuple[str, str], ...]:
    if _ALONE not in record:
        return ()
    if (alone := record.number(_ALONE)) > 1:
        record.wrong(_ALONE, f"must be 0 or 1, not {alone}")
    return (("retrieval", "not needed" if alone else "needed"),)


def _passages(source: Source) -> Iterator[Passage]:
    yield from distinct_passages(
        passage for record in records_of(source.file) for passage in _context(record)
    )


def _context(record: Record) -> Iterator[Passage]:
    """Yield the passages of a question: objects with title and text, those of ToolQA texts."""
    for number, value in enumerate(record.values("context"), 1):
        fields = value if isinstance(value, dict) else {"text": value}
        part = Record(f"{record.place}, context {number}", fields)
        if text := part.label("text"):
            yield passage_of(part.label("title"), text)


RETRIEVALQA = DatasetKind(
    name="retrievalqa",
    title="RetrievalQA",
    layout='{"question_id", "data_source", "question", "ground_truth", "context"}',
    marks=frozenset({"question_id", "question", "ground_truth", "data_source"}),
    read=_read,
    exemplars="nq",
    max_tokens=64,
    measures=(*MATCHES, "sub_exact_match"),
    passages=_passages,
)
