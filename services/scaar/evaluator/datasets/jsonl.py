"""The user's own questions, as JSON lines or a JSON array in the plain layout.

They can lack answers where none are needed, which is in ``scaar tune`` only.
"""

from collections.abc import Iterator

from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import LAYOUT, MARKS, plain_row
from scaar.evaluator.datasets.reader import records_of


def _read_unlabelled(source: Source) -> Iterator[Row]:
    for record in records_of(source.file):
        yield plain_row(record, labelled=False)


def _read(source: Source) -> Iterator[Row]:
    for record in records_of(source.file):
        yield plain_row(record)


JSONL = DatasetKind(
    name="jsonl",
    title="questions of your own",
    layout=LAYOUT,
    marks=MARKS,
    read=_read,
)

UNLABELLED = DatasetKind(
    name="questions",
    title="questions of your own without answers",
    layout='{"id", "question"}; may have "entity", "labels", "choices"',
    marks=frozenset({"id", "question"}),
    read=_read_unlabelled,
    measures=("exact_match",),  # 0 without an answer; evaluations have a measure
)
