"""The plain layout, a record a question: ``{"id", "question", "answers", ...}``.

It is the user's own (``jsonl``), and the named data sets take it too, since their samples are often
passed on so. Fields beyond those of a question are passed over.
"""

from collections.abc import Sequence

from scaar.core.evaluations import EvaluationQuestion
from scaar.evaluator.datasets.choices import LETTERS, MAX_CHOICES, letter_of, posed
from scaar.evaluator.datasets.kind import Row
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question

LAYOUT = '{"id", "question", "answers": [...]}; may have "entity", "labels", "supports", "choices"'
MARKS = frozenset({"id", "question", "answers"})

_SUPPORTS = ("supports", "gold_ids", "gold_titles")


def is_plain(record: Record) -> bool:
    """Whether a record is of the plain layout."""
    return set(record.fields) >= MARKS


def plain_row(record: Record, *, labels: Sequence[str] = ()) -> Row:
    """The question of a plain record; the fields ``labels`` of the record are labels too.

    Raises:
        InvalidRequest: a field of it is missing or wrong.
    """
    identity, question = record.identity("id"), record.text("question")
    choices = _choices(record) if "choices" in record else ()
    answers = record.texts("answers")
    if choices:
        answers = _letters(record, answers, choices)
        question = posed(question, choices)
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


def sent_question(record: Record) -> EvaluationQuestion:
    """The question of a plain record as it is sent; whoever takes it checks and poses it.

    Raises:
        InvalidRequest: a field of it is missing or wrong.
    """
    return EvaluationQuestion(
        id=record.identity("id"),
        question=record.text("question"),
        answers=record.texts("answers"),
        entity=record.label("entity"),
        labels=_labels(record),
        supports=_supports(record),
        choices=_choices(record) if "choices" in record else (),
    )


def labels_of(record: Record, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Those fields of the record that say something, as labels."""
    return tuple((name, label) for name in names if (label := record.label(name)))


def _labels(record: Record) -> tuple[tuple[str, str], ...]:
    if "labels" not in record:
        return ()
    part = record.part("labels")
    return labels_of(part, tuple(part.fields))


def _supports(record: Record) -> tuple[str, ...]:
    for name in _SUPPORTS:
        if name in record:
            return record.texts(name, may_be_empty=True)
    return ()


def _choices(record: Record) -> tuple[str, ...]:
    choices, given = record.texts("choices"), len(record.values("choices"))
    if len(choices) != given or not 2 <= given <= MAX_CHOICES:
        limit = f"must be 2 to {MAX_CHOICES} that differ and are not empty"
        record.wrong("choices", f"{limit}, not {len(choices)} among {given}")
    return choices


def _letters(record: Record, answers: tuple[str, ...], choices: tuple[str, ...]) -> tuple[str, ...]:
    letters = distinct(letter_of(answer, choices) for answer in answers)
    for letter in letters:
        if letter not in LETTERS[: len(choices)]:
            record.wrong("answers", f"must be letters or texts of the choices, not {letter!r}")
    return letters
