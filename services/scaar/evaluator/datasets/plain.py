"""The plain layout, one record per question: ``{"id", "question", "answers", ...}``.

It is the layout of the user's own questions (``jsonl``). Named data sets accept it too, since their
samples are often distributed in it. Unknown fields are ignored.
"""

from collections.abc import Iterator, Sequence

from scaar.core.prompts.untrusted import one_line
from scaar.evaluator.datasets.choices import LETTERS, MAX_CHOICES, letter_of, with_choices
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question

LAYOUT = '{"id", "question", "answers": [...]}; may have "entity", "labels", "supports", "choices"'
MARKS = frozenset({"id", "question", "answers"})

_MAX_LABEL_NAME = 128
"""Maximum number of characters of a label's name, as in the contract."""
_SUPPORTS = ("supports", "gold_ids", "gold_titles")


def is_plain(record: Record) -> bool:
    """Return whether a record has the plain layout."""
    return set(record.fields) >= MARKS


def plain_row(record: Record, *, labels: Sequence[str] = (), labelled: bool = True) -> Row:
    """Return the question of a plain record; the fields ``labels`` of the record become labels.

    Without ``labelled``, the answers of the record are ignored.

    Raises:
        InvalidRequest: a field is missing or invalid.
    """
    identity, question = record.identity("id"), record.text("question")
    choices = _choices(record) if "choices" in record else ()
    answers = record.texts("answers") if labelled else ()
    if choices and labelled:
        answers = _letters(record, answers, choices)
    if choices:
        question = with_choices(question, choices)
    found = Question(
        id=identity,
        question=question,
        answers=answers,
        entity=record.label("entity") or identity,
        labels=(*_labels(record), *labels_of(record, labels)),
        supports=_supports(record),
        choices=choices,
    )
    return Row(record.place, found)


def labels_of(record: Record, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the non-empty fields of the record as labels."""
    return tuple((name, label) for name in names if (label := record.label(name)))


def _labels(record: Record) -> tuple[tuple[str, str], ...]:
    if "labels" not in record:
        return ()
    part = record.part("labels")
    for name in part.fields:
        if len(name) > _MAX_LABEL_NAME:
            limit = f"a name must have at most {_MAX_LABEL_NAME} characters, not {len(name)}"
            record.wrong("labels", limit)
    # A name can have characters that no text of the results may have.
    return tuple((one_line(name), label) for name, label in labels_of(part, tuple(part.fields)))


def _supports(record: Record) -> tuple[str, ...]:
    for name in _SUPPORTS:
        if name in record:
            return record.texts(name, may_be_empty=True)
    return ()


def _choices(record: Record) -> tuple[str, ...]:
    choices, given = record.texts("choices"), len(record.values("choices"))
    if len(choices) != given or not 2 <= given <= MAX_CHOICES:
        limit = f"must be 2 to {MAX_CHOICES} distinct strings that are not empty"
        record.wrong("choices", f"{limit}, not {len(choices)} among {given}")
    return choices


def _letters(record: Record, answers: tuple[str, ...], choices: tuple[str, ...]) -> tuple[str, ...]:
    letters = distinct(letter_of(answer, choices) for answer in answers)
    for letter in letters:
        if letter not in LETTERS[: len(choices)]:
            record.wrong("answers", f"must be letters or texts of the choices, not {letter!r}")
    return letters


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


def _read_unlabelled(source: Source) -> Iterator[Row]:
    for record in records_of(source.file):
        yield plain_row(record, labelled=False)


UNLABELLED = DatasetKind(
    name="questions",
    title="questions of your own without answers, for scaar tune",
    layout='{"id", "question"}; may have "entity", "labels", "choices"',
    marks=frozenset({"id", "question"}),
    read=_read_unlabelled,
    measures=("exact_match",),  # 0 without an answer; evaluations have a measure
)
