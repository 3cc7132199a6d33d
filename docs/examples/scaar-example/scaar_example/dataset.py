"""A data set: a CSV file with the columns question and answer."""

import csv
from collections.abc import Iterator

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.records import Question


def _read(source: Source) -> Iterator[Row]:
    with source.file.open(newline="", encoding="utf-8") as file:
        for number, fields in enumerate(csv.DictReader(file), 1):
            place = f"{source.file.name} row {number}"
            if not fields.get("question") or not fields.get("answer"):
                raise InvalidRequest.of(place, "must have a question and an answer")
            name = f"row-{number}"
            answers = (fields["answer"],)
            yield Row(place, Question(name, fields["question"], answers, entity=name))


CSV = DatasetKind(
    name="csv",
    title="questions in a table",
    layout="a CSV file with the columns question and answer",
    marks=frozenset(),
    read=_read,
    measures=("exact_match", "f1", "contains"),
)
