"""Uploaded questions, bounded in number and size, and checked like the records of a file."""

from collections.abc import AsyncIterable

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.evaluations import EvaluationQuestion
from scaar.evaluator.datasets.plain import plain_row
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.records import Question


async def collect_questions(
    questions: AsyncIterable[EvaluationQuestion], *, max_questions: int, max_bytes: int
) -> tuple[Question, ...]:
    """Return the questions, with unique ids; stop at the first that exceeds a limit.

    Raises:
        InvalidRequest: naming the invalid question and its field, or the limit.
    """
    found: dict[str, Question] = {}
    size = at = 0
    async for each in questions:
        if at >= max_questions:
            raise InvalidRequest.of("questions", f"must be at most {max_questions:,}")
        size += _size(each)
        if size > max_bytes:
            limit = f"must have at most {max_bytes:,} bytes in total"
            raise InvalidRequest.of("questions", limit)
        question = _question(at, each)
        if question.id in found:
            first = list(found).index(question.id)
            text = f"{question.id!r} is already the id of questions[{first}]"
            raise InvalidRequest.of(f"questions[{at}].id", text)
        found[question.id] = question
        at += 1
    return tuple(found.values())


def _question(at: int, sent: EvaluationQuestion) -> Question:
    """The question, parsed like a record of the plain layout."""
    fields: dict[str, object] = {
        "id": sent.id,
        "question": sent.question,
        "answers": list(sent.answers),
        "entity": sent.entity,
        "labels": dict(sent.labels),
        "supports": list(sent.supports),
    }
    if sent.choices:
        fields["choices"] = list(sent.choices)
    place = f"questions[{at}]"
    try:
        question = plain_row(Record(place, fields)).question
    except InvalidRequest as error:
        wrong = [
            Violation(each.field.replace(", ", "."), each.description) for each in error.violations
        ]
        raise InvalidRequest(wrong) from error
    assert question is not None
    return question


def _size(sent: EvaluationQuestion) -> int:
    texts = (sent.id, sent.question, sent.entity, *sent.answers, *sent.supports, *sent.choices)
    labels = (text for pair in sent.labels for text in pair)
    return sum(len(text.encode(errors="replace")) for text in (*texts, *labels))
