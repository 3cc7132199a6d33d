"""The user's own questions, as JSON lines or a JSON array in the plain layout."""

from collections.abc import Iterator

from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import LAYOUT, MARKS, plain_row
from scaar.evaluator.datasets.reader import records_of


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
