"""Predictions as they are told of: what each is worth, and how it came about."""

from dataclasses import replace

from scaar.core.evaluations import EvaluationError, EvaluationPrediction, EvaluationQuestion
from scaar.core.types import Provenance
from scaar.evaluator.datasets.kind import Kind
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.replaying import events_of
from scaar.evaluator.scoring.scores import score_of


def prediction_told(prediction: Prediction, question: Question, kind: Kind) -> EvaluationPrediction:
    """A prediction with what it is worth."""
    failure = prediction.failure
    return EvaluationPrediction(
        setting=prediction.setting,
        question_id=prediction.question_id,
        answer=prediction.answer,
        text=prediction.text,
        usage=prediction.usage,
        end=prediction.end,
        failure=None if failure is None else EvaluationError(failure.reason, failure.message),
        scores=tuple(score_of(question, prediction, kind).values.items()),
    )


def with_details(
    told: EvaluationPrediction, prediction: Prediction, question: Question, made: Provenance
) -> EvaluationPrediction:
    """The prediction with its question, and with the events of its answer."""
    sent = EvaluationQuestion(
        id=question.id,
        question=question.question,
        answers=question.answers,
        entity=question.entity,
        labels=question.labels,
        supports=question.supports,
        choices=question.choices,
    )
    events = () if prediction.failure else tuple(events_of(prediction, made))
    return replace(told, question=sent, events=events)
