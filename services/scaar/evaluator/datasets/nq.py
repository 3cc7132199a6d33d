"""NQ-open: questions of users of a search engine, with short answers.

Kwiatkowski et al., "Natural Questions: A Benchmark for Question Answering Research", TACL 2019, in
the open form of Lee et al., "Latent Retrieval for Weakly Supervised Open Domain Question
Answering", ACL 2019. The official files are JSON lines ``{"question", "answer": [...]}`` without
ids, so the id is made from the number of the record. The plain layout is read too.
"""

from collections.abc import Iterator

from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import is_plain, plain_row
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.records import Question


def _read(source: Source) -> Iterator[Row]:
    for number, record in enumerate(records_of(source.file), 1):
        if is_plain(record):
            yield plain_row(record)
            continue
        identity = f"nq-{number}"
        question = Question(
            id=identity,
            question=record.text("question"),
            answers=record.texts("answer"),
            entity=identity,
        )
        yield Row(record.place, question)


NQ = DatasetKind(
    name="nq",
    title="NQ-open",
    layout='{"question", "answer": [...]}',
    marks=frozenset({"question", "answer"}),
    read=_read,
    exemplars="nq",
    max_tokens=64,
)
