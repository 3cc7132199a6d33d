"""The first pass of a grid: development questions drafted and judged without retrieval."""

from collections.abc import Sequence
from dataclasses import replace

from scaar.core.errors import ScaarError
from scaar.core.plurals import counted
from scaar.evaluator.datasets.sample import checksum_of
from scaar.evaluator.records import Decision, Prediction, Question, Setting
from scaar.evaluator.results import DatasetOrigin, Grid
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.splits import Splits
from scaar.evaluator.studies.grid.candidates import (
    candidates_of,
    first_pass_settings,
    with_candidates,
)

MAX_RETRIEVALS = 0
"""Retrievals of an answer in the first pass."""


def first_pass_spec(
    spec: EvaluationSpec, judging: Sequence[Setting], development: Sequence[Question]
) -> EvaluationSpec:
    """Return the first pass of an evaluation: its development questions, without retrieval."""
    return EvaluationSpec(
        dataset=origin_of_split(spec.dataset, development),
        settings=tuple(judging),
        index=spec.index,
        timeout_s=spec.timeout_s,
        cache_generations=spec.cache_generations,
        max_retrievals=MAX_RETRIEVALS,
        filters=spec.filters,
    )


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


def require_answers(predictions: Sequence[Prediction]) -> None:
    """Check that no question of a first pass failed.

    Raises:
        ScaarError: questions failed.
    """
    failures = [each.failure for each in predictions if each.failure is not None]
    if failures:
        text = f"{counted(len(failures), 'question')} failed in the first pass, the first with"
        raise ScaarError(f"{text} {failures[0].message}; try again with --retry-failed")
