"""Every prediction measured against the true answers."""

from collections.abc import Iterator

from scaar.evaluator.datasets import kind_of
from scaar.evaluator.datasets.kind import Kind
from scaar.evaluator.measures import MEASURES
from scaar.evaluator.records import Prediction, Question, Score
from scaar.evaluator.results import Results

MAIN = ("f1", "accuracy", "exact_match")
"""The measures that settings are compared by: the first that a data set has."""


def scores_of(results: Results) -> Iterator[Score]:
    """The score of each prediction that there is, in order, by the measures of its data set.

    One that failed scores 0.
    """
    kind = kind_of(results.evaluation.dataset.name)
    questions = {each.id: each for each in results.questions}
    for prediction in results.predictions:
        yield score_of(questions[prediction.question_id], prediction, kind)


def score_of(question: Question, prediction: Prediction, kind: Kind) -> Score:
    """The prediction as it is measured for a data set; white space is no answer."""
    failed = prediction.failure is not None
    answer = "" if failed else kind.extract(prediction.answer, question).strip()
    values = {
        name: MEASURES[name](answer, question.answers) if answer else 0.0 for name in kind.measures
    }
    return Score(prediction.setting, question.id, values, prediction.usage, failed=failed)


def main_measure_of(kind: Kind) -> str:
    """The measure that settings of a data set are compared by."""
    return next((name for name in MAIN if name in kind.measures), kind.measures[0])
