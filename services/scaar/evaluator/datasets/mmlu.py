"""MMLU: multiple choices in 57 subjects.

Hendrycks et al., "Measuring Massive Multitask Language Understanding", ICLR 2021. The official data
are CSV files without a header, one per subject (``anatomy_test.csv``): question, four choices, the
letter of the correct one. The reader takes such a file, a folder of them, and JSON lines ``{"id",
"subject", "question", "choices", "answer"}``. The question contains the choices; the answer is a
letter.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.core.prompts.untrusted import one_line
from scaar.evaluator.datasets.choices import LETTERS, with_choices
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import records_of, text_of
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.records import Question

CHOICES = 4

_COLUMNS = ("question", *LETTERS[:CHOICES], "answer")
_PARTS = ("_test", "_val", "_dev")


def _read(source: Source) -> Iterator[Row]:
    path = source.file
    if path.is_dir():
        files = sorted(path.glob("*.csv"))
        if not files:
            raise InvalidRequest.of("path", f"{path} has no CSV file, such as anatomy_test.csv")
        for file in files:
            yield from _of_csv(file)
    elif path.name.endswith((".csv", ".csv.gz")):
        yield from _of_csv(path)
    else:
        for record in records_of(path):
            choices = tuple(_choice(record, value) for value in record.values("choices"))
            yield _row(record, record.identity("id"), record.text("subject"), choices)


def _of_csv(path: Path) -> Iterator[Row]:
    stem = path.name.removesuffix(".gz").removesuffix(".csv")
    subject = next((stem.removesuffix(part) for part in _PARTS if stem.endswith(part)), stem)
    rows = csv.reader(io.StringIO(text_of(path), newline=""), strict=True)
    try:
        for number, row in enumerate(rows, 1):
            place = f"{path.name} record {number}"
            if len(row) != len(_COLUMNS):
                text = f"must be {', '.join(_COLUMNS)}: {len(_COLUMNS)} fields, not {len(row)}"
                raise InvalidRequest.of(place, text)
            record = Record(place, dict(zip(_COLUMNS, row, strict=True)))
            choices = tuple(record.text(letter) for letter in LETTERS[:CHOICES])
            yield _row(record, f"{stem}-{number}", subject, choices)
    except csv.Error as error:
        raise InvalidRequest.of(
            f"{path.name} line {rows.line_num}", f"is not valid CSV: {error}"
        ) from error


def _row(record: Record, identity: str, subject: str, choices: tuple[str, ...]) -> Row:
    answer, offered = record.text("answer"), LETTERS[: len(choices)]
    if len(choices) != CHOICES:
        record.wrong("choices", f"must be {CHOICES}, not {len(choices)}")
    if len(answer) != 1 or answer not in offered:
        record.wrong("answer", f"must be one of {', '.join(offered)}, not {answer!r}")
    question = Question(
        id=identity,
        question=with_choices(record.text("question"), choices),
        answers=(answer,),
        entity=identity,
        labels=(("subject", subject),),
        choices=choices,
    )
    return Row(record.place, question)


def _choice(record: Record, value: object) -> str:
    if not isinstance(value, str) or not (choice := one_line(value)):
        record.wrong("choices", f"must be strings that are not empty, not {value!r}")
    return choice


MMLU = DatasetKind(
    name="mmlu",
    title="MMLU",
    layout="CSV without a header: question, A, B, C, D, answer",
    marks=frozenset({"subject", "question", "choices", "answer"}),
    read=_read,
    exemplars="mmlu",
    max_tokens=100,
    measures=("accuracy",),
)
