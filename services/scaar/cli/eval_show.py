"""``scaar eval show``: how an answer of an evaluation came about, word by word."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli.trace import TracePrinter
from scaar.core.errors import InvalidRequest
from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    PassagesRetrieved,
    Provenance,
    QueryBuilt,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    Token,
    TokenDrafted,
)
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.records import Decision, Prediction, Question
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
    for label in labels if setting is None else [setting]:
        _show(console, results, asked[question], label)


def events_of(prediction: Prediction, provenance: Provenance) -> Iterator[AnswerEvent]:
    """The events that a prediction with an answer was made of, as far as it keeps them."""
    yield AnswerStarted(provenance)
    if prediction.gate is not None:
        yield prediction.gate
    start, sentences = 0, []
    for number, decision in enumerate(prediction.decisions):
        yield from _decided(number, decision, provenance)
        accepted = AcceptedSentence(decision.text, decision.passage_ids, degraded=decision.degraded)
        sentences.append(accepted)
        yield SentenceAccepted(number, accepted, start, start + len(decision.text))
        start += len(decision.text)
    if prediction.end is not None:
        yield AnswerFinished(
            Answer(
                prediction.answer, tuple(sentences), prediction.end, prediction.usage, provenance
            )
        )


def _decided(number: int, decision: Decision, made: Provenance) -> Iterator[AnswerEvent]:
    if decision.words:
        yield _drafted(number, decision.draft)
        retrieving = decision.query is not None
        yield SentenceJudged(number, decision.draft, decision.words, decision.trigger, retrieving)
    if decision.query is not None:
        yield QueryBuilt(number, decision.query)
        passages = tuple(
            RetrievedPassage(passage_id, "", "", 0.0, rank)
            for rank, passage_id in enumerate(decision.passage_ids, 1)
        )
        yield PassagesRetrieved(number, made.index, made.index_version, passages)
    if decision.words and decision.passage_ids:
        yield SentenceRegenerated(number, decision.draft, decision.text)
    elif not decision.words:
        yield _drafted(number, decision.text)


def _drafted(number: int, text: str) -> TokenDrafted:
    return TokenDrafted(number, Token(0, text, 0, len(text)))


def _show(console: Console, results: Results, question: Question, label: str) -> None:
    from scaar.evaluator.scoring.scores import score_of

    console.rule(label, align="left")
    console.print(question.question, markup=False)
    prediction = next(
        (
            each
            for each in results.predictions
            if (each.setting, each.question_id) == (label, question.id)
        ),
        None,
    )
    if prediction is None:
        console.print("not asked yet: the run has not come to its end")
        return
    if prediction.failure is not None:
        failure = prediction.failure
        console.print(f"failed: {failure.reason}: {failure.message}", markup=False)
        return
    trace = TracePrinter(console, contributions=True)
    for event in events_of(prediction, results.evaluation.provenance[label]):
        trace.show(event)
    kind = kind_of(results.evaluation.dataset.name)
    values = score_of(question, prediction, kind).values
    verdict = "right" if values[kind.measures[0]] == 1 else "wrong"
    wanted = " or ".join(question.answers)
    figures = ", ".join(f"{name} {value:.2f}" for name, value in values.items())
    console.print(f"{verdict:>9}  wanted: {wanted}", markup=False)
    console.print(f"{'scores':>9}  {figures}", markup=False)


def _require(name: str, known: list[str], field: str) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0) or known[:3]
        raise InvalidRequest.of(field, f"there is no {name!r} here; near it: {', '.join(near)}")
