"""Questions that are sent: bounded, and checked as a file of them is."""

from collections.abc import AsyncIterable

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.evaluations import EvaluationQuestion
from scaar.evaluator.datasets.plain import plain_row
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.records import Question


async def collected(
    questions: AsyncIterable[EvaluationQuestion], *, most: int, most_bytes: int
) -> tuple[Question, ...]:
    """The questions, each of them right and each id once; refused at the first that is too much.

    Raises:
        InvalidRequest: naming the question and its field, or the limit.
    """
    found: dict[str, Question] = {}
    size = at = 0
    async for each in questions:
        if at >= most:
            raise InvalidRequest.of("questions", f"must be at most {most:,}")
        size += _size(each)
        if size > most_bytes:
            limit = f"must come to at most {most_bytes:,} bytes"
            raise InvalidRequest.of("questions", limit)
        question = _question(at, each)
        if question.id in found:
            first = list(found).index(question.id)
            told = f"{question.id!r} is the id of questions[{first}] already"
            raise InvalidRequest.of(f"questions[{at}].id", told)
        found[question.id] = question
        at += 1
    return tuple(found.values())


def _question(at: int, sent: EvaluationQuestion) -> Question:
    """The question, read as one of the plain layout."""
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
        told = [
            Violation(each.field.replace(", ", "."), each.description) for each in error.violations
        ]
        raise InvalidRequest(told) from error
    assert question is not None
    return question


def _size(sent: EvaluationQuestion) -> int:
    texts = (sent.id, sent.question, sent.entity, *sent.answers, *sent.supports, *sent.choices)
    labels = (text for pair in sent.labels for text in pair)
    return sum(len(text.encode(errors="replace")) for text in (*texts, *labels))
