"""The learning curve: what a tuning on fewer questions reaches on other questions.

For every fold, the whole procedure is applied to a sample of the questions of the other folds, and
what it chooses is measured on the fold. The samples are of whole entities.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.evaluator.execution.progress import RunProgress
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.studies.tuning.procedure import Tuner
from scaar.evaluator.studies.tuning.records import TunedQuestion
from scaar.evaluator.studies.tuning.selection import clustered_mean

MIN_QUESTIONS = 10


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What tunings on a number of questions reach, each on the fold that they are not from.

    ``chosen`` are the triggers that were chosen, one for each fold.
    """

    questions: int
    quality: Estimate
    searches: Estimate
    chosen: tuple[str, ...]


def check_sizes(sizes: Sequence[int], questions: Sequence[TunedQuestion]) -> None:
    """Check the numbers of questions of a learning curve.

    Raises:
        InvalidRequest: a number is too small, or larger than the folds that remain, or these are
            too small for any number.
    """
    folds = {each.fold for each in questions}
    most = min((sum(each.fold != fold for each in questions) for fold in folds), default=0)
    if sizes and most < MIN_QUESTIONS:
        text = f"needs {MIN_QUESTIONS} questions outside the largest fold, not {most}"
        raise InvalidRequest.of("curve_sizes", f"{text}: tune on more questions")
    wrong = [each for each in sizes if not MIN_QUESTIONS <= each <= most]
    if wrong:
        text = f"must be {MIN_QUESTIONS} to {most}, the questions outside the largest fold"
        raise InvalidRequest.of("curve_sizes", f"{text}, not {wrong[0]}")


async def learning_curve(
    questions: Sequence[TunedQuestion],
    sizes: Sequence[int],
    tuner_of: Callable[[Sequence[TunedQuestion]], Tuner],
    progress: RunProgress,
) -> tuple[CurvePoint, ...]:
    """Return what tunings on each number of questions reach."""
    folds = sorted({each.fold for each in questions})
    points = []
    progress.name = "learning curve"
    with progress.watch(len(sizes) * len(folds), 0) as count:
        for size in sizes:
            found, entities, chosen = [], [], []
            for fold in folds:
                tuner = tuner_of(_sample(questions, size, fold))
                policy = await tuner.choice()
                tested = [each for each in questions if each.fold == fold]
                found.append(await tuner.measured(policy, tested))
                entities += [each.entity for each in tested]
                chosen.append(policy.candidate.name if policy else "none")
                count(None)
            quality, searches = (
                clustered_mean(np.concatenate(values), entities)
                for values in ([x.quality for x in found], [x.searches for x in found])
            )
            points.append(CurvePoint(size, quality, searches, tuple(chosen)))
    return tuple(points)


def _sample(questions: Sequence[TunedQuestion], size: int, fold: int) -> list[TunedQuestion]:
    """Return about ``size`` questions outside a fold, all those of each sampled entity."""
    others: dict[str, list[TunedQuestion]] = {}
    for each in questions:
        if each.fold != fold:
            others.setdefault(each.entity, []).append(each)
    entities = sorted(others)
    Random(f"learning curve {size} {fold}").shuffle(entities)
    found: list[TunedQuestion] = []
    for entity in entities:
        if len(found) >= size:
            break
        found += others[entity]
    places = {each.key: at for at, each in enumerate(questions)}
    return sorted(found[:size], key=lambda each: places[each.key])
