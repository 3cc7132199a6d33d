"""``scaar eval show``: how an answer of an evaluation came about, word by word."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli.prediction_trace import print_predictions
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import EvaluationPrediction
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.records import Question
from scaar.evaluator.results import Results
from scaar.evaluator.store.folder import read_results


def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an evaluation.")],
    question: Annotated[str, typer.Option(metavar="ID", help="The question's id.")],
    setting: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="One setting; all if not given.", show_default=False),
    ] = None,
) -> None:
    """Show every decision about one question: words, query, passages, before and after."""
    results = read_results(folder)
    asked = {each.id: each for each in results.questions}
    labels = [each.label for each in results.evaluation.settings]
    _require(question, list(asked), "--question")
    if setting is not None:
        _require(setting, labels, "--setting")
    console = Console(highlight=False)
    found = {each.setting: each for each in _predictions(results, asked[question])}
    for label in labels if setting is None else [setting]:
        if label in found:
            print_predictions(console, [found[label]])
        else:
            console.rule(label, align="left")
            console.print(asked[question].question, markup=False)
            console.print("not asked yet: the run has not come to its end")


def _predictions(results: Results, question: Question) -> Iterator[EvaluationPrediction]:
    from scaar.evaluator.telling import prediction_told, with_details

    kind = kind_of(results.evaluation.dataset.name)
    for each in results.predictions:
        if each.question_id == question.id:
            made = results.evaluation.provenance[each.setting]
            yield with_details(prediction_told(each, question, kind), each, question, made)


def _require(name: str, known: list[str], field: str) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0) or known[:3]
        raise InvalidRequest.of(field, f"there is no {name!r} here; near it: {', '.join(near)}")
