"""``scaar eval show``: the decisions behind an answer of an evaluation, word by word."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli.addresses import OptionalEvaluator
from scaar.cli.ask.trace import TracePrinter
from scaar.cli.eval.options import EvaluationName
from scaar.cli.eval.service import call_evaluator
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import EvaluationPrediction, EvaluationQuestion
from scaar.core.pages import MAX_PAGE_SIZE
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.records import Question
from scaar.evaluator.results import Results
from scaar.evaluator.store.folder import read_results


def show(
    results: EvaluationName,
    question: Annotated[str, typer.Option(metavar="ID", help="Id of the question.")],
    setting: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Label of one setting. Default: all.")
    ] = None,
    target: OptionalEvaluator = None,
) -> None:
    """Show every decision about one question.

    The trace has the judged words, the query, the passages, and each sentence before and after.
    """
    console = Console(highlight=False)
    if target is None:
        _show_stored(console, read_results(Path(results)), question, setting)
        return
    page = call_evaluator(
        target,
        lambda evaluator: evaluator.list_predictions(
            results,
            setting=setting or "",
            question_id=question,
            detailed=True,
            page_size=MAX_PAGE_SIZE,
        ),
    )
    print_predictions(console, page.predictions)
    if not page.predictions:
        console.print("no prediction yet")


def _show_stored(console: Console, results: Results, question: str, setting: str | None) -> None:
    questions = {each.id: each for each in results.questions}
    labels = [each.label for each in results.evaluation.settings]
    _require(question, list(questions), "--question")
    if setting is not None:
        _require(setting, labels, "--setting")
    found = {each.setting: each for each in _predictions(results, questions[question])}
    for label in labels if setting is None else [setting]:
        if label in found:
            print_predictions(console, [found[label]])
        else:
            console.rule(label, align="left")
            console.print(questions[question].question, markup=False)
            console.print("no prediction yet: the evaluation is not complete")


def _predictions(results: Results, question: Question) -> Iterator[EvaluationPrediction]:
    from scaar.evaluator.prediction_view import describe_prediction, with_details

    kind = kind_of(results.evaluation.dataset.name)
    for each in results.predictions:
        if each.question_id == question.id:
            provenance = results.evaluation.provenance[each.setting]
            prediction = describe_prediction(each, question, kind)
            yield with_details(prediction, each, question, provenance)


def _require(name: str, known: list[str], field: str) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0) or known[:3]
        raise InvalidRequest.of(
            field, f"there is no {name!r} in this evaluation; similar: {', '.join(near)}"
        )


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
