"""The trace of a prediction: question, every decision, and scores."""

from collections.abc import Iterable

from rich.console import Console

from scaar.cli.ask.trace import TracePrinter
from scaar.core.evaluations import EvaluationPrediction, EvaluationQuestion


def print_predictions(console: Console, predictions: Iterable[EvaluationPrediction]) -> None:
    """Print predictions with their details, each under the label of its setting."""
    for prediction in predictions:
        assert prediction.question is not None
        console.rule(prediction.setting, align="left")
        console.print(prediction.question.question, markup=False)
        if prediction.failure is not None:
            failure = prediction.failure
            console.print(f"failed: {failure.reason}: {failure.message}", markup=False)
        else:
            _print_answer(console, prediction, prediction.question)


def _print_answer(
    console: Console, prediction: EvaluationPrediction, question: EvaluationQuestion
) -> None:
    trace = TracePrinter(console, contributions=True)
    for event in prediction.events:
        trace.show(event)
    verdict = "correct" if prediction.scores[0][1] == 1 else "wrong"
    expected = " or ".join(question.answers)
    figures = ", ".join(f"{name} {value:.2f}" for name, value in prediction.scores)
    console.print(f"{verdict:>9}  expected: {expected}", markup=False)
    console.print(f"{'scores':>9}  {figures}", markup=False)
