"""FlashRAG's layout, in which its authors distribute 36 data sets.

Jin et al., "FlashRAG: A Modular Toolkit for Efficient Retrieval-Augmented Generation Research", WWW
2025. The files are JSON lines ``{"id", "question", "golden_answers", "metadata"}``. A multiple
choice has ``choices`` too, and its golden answers are their positions, from 0. HotpotQA and
2WikiMultihopQA have their supports and paragraphs in the metadata.
"""

from collections.abc import Iterator

from scaar.core.prompts.untrusted import one_line
from scaar.core.types import Passage
from scaar.evaluator.datasets.answers import yes_or_no_of_comparison
from scaar.evaluator.datasets.choices import LETTERS, MAX_CHOICES, with_choices
from scaar.evaluator.datasets.contexts import paragraphs_of, pooled, supports_of
from scaar.evaluator.datasets.kind import MATCHES, DatasetKind, Row, Source
from scaar.evaluator.datasets.plain import labels_of
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record, distinct
from scaar.evaluator.records import Question

_LABELS = ("type", "level")


def _read(source: Source) -> Iterator[Row]:
    for record in records_of(source.file):
        if not record.values("golden_answers"):
            yield Row(record.place, None, "has no answer")
        else:
            yield _row(record)


def _row(record: Record) -> Row:
    identity, question = record.identity("id"), record.text("question")
    choices = _choices(record) if record.fields.get("choices") else ()
    metadata = record.part("metadata") if record.fields.get("metadata") else Record("", {})
    found = Question(
        id=identity,
        question=with_choices(question, choices) if choices else question,
        answers=_letters(record, len(choices)) if choices else _answers(record),
        entity=identity,
        labels=labels_of(metadata, _LABELS),
        supports=supports_of(metadata) if "supporting_facts" in metadata else (),
        choices=choices,
    )
    return Row(record.place, found)


def _answers(record: Record) -> tuple[str, ...]:
    values = record.values("golden_answers")
    for value in values:
        if not isinstance(value, str | int | float):
            record.wrong("golden_answers", f"must be a list of strings, not of {value!r:.60}")
    answers = distinct(one_line(str(value)) for value in values)
    if not answers:
        record.wrong("golden_answers", "must have at least one string that is not empty")
    return answers


def _choices(record: Record) -> tuple[str, ...]:
    choices = tuple(
        one_line(value) if isinstance(value, str) else "" for value in record.values("choices")
    )
    if not all(choices) or not 2 <= len(choices) <= MAX_CHOICES:
        text = f"must be 2 to {MAX_CHOICES} strings that are not empty, not {len(choices)}"
        record.wrong("choices", text)
    return choices


def _letters(record: Record, choices: int) -> tuple[str, ...]:
    positions = record.values("golden_answers")
    for position in positions:
        if type(position) is not int or not 0 <= position < choices:
            text = f"must be positions of choices, 0 to {choices - 1}, not {position!r:.60}"
            record.wrong("golden_answers", text)
    return tuple(LETTERS[position] for position in positions if isinstance(position, int))


def _passages(source: Source) -> Iterator[Passage]:
    yield from pooled(
        paragraph
        for record in records_of(source.file)
        for paragraph in paragraphs_of(record.part("metadata"))
    )


FLASHRAG = DatasetKind(
    name="flashrag",
    title="a data set in FlashRAG's layout",
    layout='{"id", "question", "golden_answers": [...]}; may have "metadata", "choices"',
    marks=frozenset({"id", "question", "golden_answers"}),
    read=_read,
    measures=(*MATCHES, "sub_exact_match", "accuracy"),
    extract=yes_or_no_of_comparison,
    passages=_passages,
)
