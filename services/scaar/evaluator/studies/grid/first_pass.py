"""The first pass of a grid: development questions drafted and judged without retrieval."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scaar.core.errors import ScaarError
from scaar.evaluator.datasets.checksum import checksum_of
from scaar.evaluator.records import Decision, Prediction, Question, Setting
from scaar.evaluator.results import DatasetOrigin, Grid, Results
from scaar.evaluator.run import Run, run_in_folder
from scaar.evaluator.splits import Splits, split_questions
from scaar.evaluator.studies.grid.candidates import (
    candidates_of,
    first_pass_settings,
    with_candidates,
)

MAX_RETRIEVALS = 0
"""Retrievals of an answer in the first pass."""


async def place_grid(
    run: Run,
    folder: Path,
    settings: Sequence[Setting],
    questions: Sequence[Question],
    *,
    origin: DatasetOrigin,
    size: int,
) -> tuple[tuple[Setting, ...], Grid]:
    """Return the settings at the candidates of theta, and the grid of the candidates.

    Raises:
        ScaarError: the development split has no question or too few distinct trigger scores, or
            the first pass failed.
    """
    splits = split_questions(questions, seed=origin.seed)
    judging = first_pass_settings(settings)
    predictions: Sequence[Prediction] = ()
    if judging:
        found = await first_pass(run, folder, judging, splits.development, origin=origin)
        predictions = found.predictions
    return place_candidates(settings, predictions, splits, size=size)


async def first_pass(
    run: Run,
    folder: Path,
    judging: Sequence[Setting],
    development: Sequence[Question],
    *,
    origin: DatasetOrigin,
) -> Results:
    """Return the predictions of the development questions without retrieval.

    Raises:
        ScaarError: there is no development question, or a question failed.
    """
    require_development(development)
    budget = replace(run.template.budget, max_retrievals=MAX_RETRIEVALS)
    drafting = replace(run, template=replace(run.template, budget=budget))
    split = origin_of_split(origin, development)
    found = await run_in_folder(drafting, folder, judging, development, origin=split)
    require_answers(found.predictions, "; try again with --retry-failed")
    return found


def place_candidates(
    settings: Sequence[Setting],
    predictions: Sequence[Prediction],
    splits: Splits,
    *,
    size: int,
) -> tuple[tuple[Setting, ...], Grid]:
    """Return the settings at the candidates that the predictions of a first pass place.

    Raises:
        ScaarError: there are too few distinct trigger scores.
    """
    candidates = {
        each.label: candidates_of(predictions, each.label, size=size)
        for each in first_pass_settings(settings)
    }
    development, test = (
        tuple(each.id for each in split) for split in (splits.development, splits.test)
    )
    return with_candidates(settings, candidates), Grid(size, candidates, development, test)


def only_scores(prediction: Prediction) -> Prediction:
    """Return a prediction without its texts, of which a large first pass has too many to keep."""
    scores = tuple(Decision("", score=each.score) for each in prediction.decisions)
    return replace(prediction, answer="", text="", decisions=scores)


def origin_of_split(origin: DatasetOrigin, questions: Sequence[Question]) -> DatasetOrigin:
    """Return the origin of the questions of one split."""
    return replace(origin, questions=len(questions), checksum=checksum_of(questions))


def require_development(questions: Sequence[Question]) -> None:
    """Check that the development split has a question.

    Raises:
        ScaarError: it has none.
    """
    if not questions:
        raise ScaarError("the development split has no question; use more questions")


def require_answers(predictions: Sequence[Prediction], advice: str = "") -> None:
    """Check that no question of a first pass failed.

    Raises:
        ScaarError: questions failed; the message ends with the advice.
    """
    failures = [each.failure for each in predictions if each.failure is not None]
    if failures:
        text = f"{len(failures)} questions failed in the first pass, the first with"
        raise ScaarError(f"{text} {failures[0].message}{advice}")
