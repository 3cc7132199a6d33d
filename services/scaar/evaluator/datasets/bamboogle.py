"""Bamboogle: 125 questions over two facts, which a search engine does not answer directly.

Press et al., "Measuring and Narrowing the Compositionality Gap in Language Models", Findings of
EMNLP 2023. The official file is a CSV table with the columns Question and Answer and without ids,
so the id is made from the number of the row. FlashRAG's copy is read by ``flashrag``.
"""

from collections.abc import Iterator

from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import rows_of
from scaar.evaluator.records import Question

_COLUMNS = ("Question", "Answer")


def _read(source: Source) -> Iterator[Row]:
    for number, record in enumerate(rows_of(source.file, columns=_COLUMNS), 1):
        identity = f"bamboogle-{number}"
        question = Question(
            id=identity,
            question=record.text(_COLUMNS[0]),
            answers=(record.text(_COLUMNS[1]),),
            entity=identity,
        )
        yield Row(record.place, question)


BAMBOOGLE = DatasetKind(
    name="bamboogle",
    title="Bamboogle",
    layout="CSV with the columns Question and Answer",
    marks=frozenset(_COLUMNS),
    read=_read,
    exemplars="2wikimultihopqa",
    max_tokens=100,
)
