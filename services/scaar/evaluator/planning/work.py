"""The work of an evaluation: each question at each setting, in a fixed order, in shards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import AnswerRequest
from scaar.core.validation import validate
from scaar.evaluator.records import Question, Setting

Key = tuple[str, str]
"""The label of a setting and the id of a question."""


@dataclass(frozen=True, slots=True)
class Work:
    """A question to answer at a setting."""

    setting: Setting
    question: Question

    @property
    def key(self) -> Key:
        return self.setting.label, self.question.id


def plan_work(settings: Sequence[Setting], questions: Iterable[Question]) -> Iterator[Work]:
    """Yield every question at every setting, question by question.

    In this order the settings of an interrupted run have the same questions and can be compared.
    """
    for question in questions:
        for setting in settings:
            yield Work(setting, question)


def remaining_work(plan: Iterable[Work], known: Mapping[Key, bool]) -> tuple[Work, ...]:
    """Return the work without a prediction; ``known`` has the keys of the others."""
    return tuple(each for each in plan if each.key not in known)


def cut_shards(questions: int, settings: int, *, predictions: int) -> tuple[tuple[int, int], ...]:
    """Return the question positions [first, last) of shards of about ``predictions`` each."""
    size = max(1, predictions // max(1, settings))
    return tuple((first, min(first + size, questions)) for first in range(0, questions, size))


def check_questions(template: AnswerRequest, questions: Iterable[Question]) -> None:
    """Check that the template is a valid request with each of the questions.

    Raises:
        InvalidRequest: naming the first invalid question, or the invalid field of the template.
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
