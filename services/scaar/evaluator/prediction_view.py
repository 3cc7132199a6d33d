"""Descriptions of predictions for clients: their scores and their events."""

from dataclasses import replace

from scaar.core.evaluations import EvaluationError, EvaluationPrediction, EvaluationQuestion
from scaar.core.types import Provenance
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.replay import events_of
from scaar.evaluator.scoring.scores import score_of


def describe_prediction(
    prediction: Prediction, question: Question, kind: DatasetKind
) -> EvaluationPrediction:
    """Return the description of a prediction with its scores."""
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
        abstained=prediction.abstained,
    )


def with_details(
    described: EvaluationPrediction,
    prediction: Prediction,
    question: Question,
    provenance: Provenance,
) -> EvaluationPrediction:
    """Return the description with the question and the events of the answer."""
    events = () if prediction.failure else tuple(events_of(prediction, provenance))
    return replace(described, question=describe_question(question), events=events)


def describe_question(question: Question) -> EvaluationQuestion:
    """Return the question as a request sends it."""
    return EvaluationQuestion(
        id=question.id,
        question=question.question,
        answers=question.answers,
        entity=question.entity,
        labels=question.labels,
        supports=question.supports,
        choices=question.choices,
    )
