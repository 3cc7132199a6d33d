"""Scores of predictions against the accepted answers."""

from collections.abc import Iterator
from dataclasses import replace

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.measures import MEASURES
from scaar.evaluator.records import Prediction, Question, Score
from scaar.evaluator.results import Results

CRAG = "crag"
MAIN = ("f1", "accuracy", "exact_match")
"""The measures that settings are compared by; the first one that a data set has is used."""


def scores_of(results: Results, measure: str | None = None) -> Iterator[Score]:
    """Yield the score of each prediction, in order, in the measures of its data set.

    With ``measure``, also in that one. A failed prediction scores 0.

    Raises:
        InvalidRequest: there is no such measure; lists the known ones.
    """
    kind = measured_in(kind_of(results.evaluation.dataset.name), measure)
    questions = {each.id: each for each in results.questions}
    for prediction in results.predictions:
        yield score_of(questions[prediction.question_id], prediction, kind)


def measured_in(kind: DatasetKind, measure: str | None) -> DatasetKind:
    """Return the data set, measured in its own measures and the given one.

    Raises:
        InvalidRequest: there is no such measure; lists the known ones.
    """
    if measure is None or measure in kind.measures:
        return kind
    if measure not in MEASURES:
        raise InvalidRequest.of("measure", MEASURES.unknown(measure))
    return replace(kind, measures=(*kind.measures, measure))


def score_of(question: Question, prediction: Prediction, kind: DatasetKind) -> Score:
    """Return the score of a prediction; an answer of white space alone scores 0.

    An answer that abstains is none for CRAG's score; other measures compare its text.
    """
    failed = prediction.failure is not None
    answer = "" if failed else kind.extract(prediction.answer, question).strip()
    values = {
        name: MEASURES[name](answer, question.answers) if answer else 0.0 for name in kind.measures
    }
    if prediction.abstained is not None and CRAG in values:
        values[CRAG] = 0.0
    return Score(prediction.setting, question.id, values, prediction.usage, failed=failed)


def main_measure_of(kind: DatasetKind) -> str:
    """Return the measure that settings of a data set are compared by."""
    return next((name for name in MAIN if name in kind.measures), kind.measures[0])
