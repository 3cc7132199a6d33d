"""The request that every question of an evaluation is asked with."""

from collections.abc import Iterable
from dataclasses import replace

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import AnswerRequest
from scaar.core.validation import validate
from scaar.evaluator.records import Question


def check_questions(template: AnswerRequest, questions: Iterable[Question]) -> None:
    """Passes a template that can be asked with each of the questions.

    Raises:
        InvalidRequest: naming the first question that is wrong, or what else is.
    """
    for question in questions:
        try:
            validate(replace(template, question=question.question))
        except InvalidRequest as error:
            wrong = [
                Violation(f"question {question.id}", each.description)
                if each.field == "question"
                else each
                for each in error.violations
            ]
            raise InvalidRequest(wrong) from error
