"""How well a label finds the tail that is known: of the share ranked first, and over all ranks."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scaar.core.errors import InvalidRequest
from scaar.evaluator.longtail.gece import count_of
from scaar.evaluator.longtail.records import Label
from scaar.evaluator.records import Question

RESAMPLES = 1_000

_Floats = NDArray[np.float64]

BY: Mapping[str, Callable[[Label], float]] = {
    "gece": lambda each: -each.rank,
    "without_statistics": lambda each: -each.without_statistics,
    "without_semantics": lambda each: -each.without_semantics,
    "gap of METEOR and probability": lambda each: abs(each.parts.meteor - each.parts.probability),
    "METEOR, low first": lambda each: -each.parts.meteor,
    "token probability, low first": lambda each: -each.parts.probability,
    "word frequency, low first": lambda each: -each.parts.frequency,
    "gradients' product, low first": lambda each: -each.parts.product,
}
"""What the questions are ordered by, GECE, its ablations and its parts: the most is the tail."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """A value with its 95% interval, drawn by entity."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Found:
    """What of the tail an order finds: among the share that it puts first, and by AUROC."""

    by: str
    precision: Bounded
    auroc: Bounded


def tail_of(questions: Sequence[Question], tail: str) -> tuple[bool, ...]:
    """Whether each question is of the tail, ``LABEL=VALUE,...``.

    Raises:
        InvalidRequest: the text is none, a question has no such label, or all or none are.
    """
    name, equals, values = tail.partition("=")
    wanted = {value.strip() for value in values.split(",")}
    if not equals or not name or wanted == {""}:
        raise InvalidRequest.of("--tail", f"must be LABEL=VALUE,..., not {tail!r}")
    for question in questions:
        labels = dict(question.labels)
        if name not in labels:
            known = ", ".join(labels) or "none"
            text = f"question {question.id} has no label {name!r}; it has {known}"
            raise InvalidRequest.of("--tail", text)
    found = tuple(dict(question.labels)[name] in wanted for question in questions)
    if all(found) or not any(found):
        how_many = "every question is" if all(found) else "no question is"
        raise InvalidRequest.of(
            "--tail", f"{how_many} of the tail {tail!r}: nothing is to be found"
        )
    return found


def detection(
    labels: Sequence[Label],
    questions: Sequence[Question],
    tail: Sequence[bool],
    *,
    share: float,
    seed: int = 0,
) -> tuple[Found, ...]:
    """What each order of :data:`BY` finds of the tail."""
    truths = np.array(tail)
    draws = entity_draws(questions, truths, seed=seed)
    return tuple(
        Found(
            by=name,
            precision=bounded(precision_at, np.array([*map(score, labels)]), truths, draws, share),
            auroc=bounded(auroc, np.array([*map(score, labels)]), truths, draws, share),
        )
        for name, score in BY.items()
    )


def precision_at(scores: _Floats, truths: NDArray[np.bool_], share: float) -> float:
    """The share of the tail among the questions with the highest scores.

    Of those that tie at the edge each counts as much as any.
    """
    most = count_of(share, len(scores))
    edge = np.sort(scores)[-most]
    above, at_edge = scores > edge, scores == edge
    left = most - above.sum()
    return float((truths[above].sum() + truths[at_edge].mean() * left) / most)


def auroc(scores: _Floats, truths: NDArray[np.bool_], share: float = 0.0) -> float:
    """How often a question of the tail scores above one of the head; a tie counts one half.

    Not a number where there are not both.
    """
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, side="left")
    ranks = (below + np.searchsorted(ordered, scores, side="right") + 1) / 2
    positive = int(truths.sum())
    pairs = positive * (len(truths) - positive)
    if not pairs:
        return math.nan
    return float((ranks[truths].sum() - positive * (positive + 1) / 2) / pairs)


def bounded(
    measure: Callable[[_Floats, NDArray[np.bool_], float], float],
    scores: _Floats,
    truths: NDArray[np.bool_],
    draws: Sequence[NDArray[np.intp]],
    share: float = 0.0,
) -> Bounded:
    """A measure with its interval over the draws in which it is defined."""
    value = measure(scores, truths, share)
    drawn = [measure(scores[each], truths[each], share) for each in draws]
    defined = [each for each in drawn if not math.isnan(each)] or [value]
    low, high = np.quantile(defined, (0.025, 0.975))
    return Bounded(value, float(low), float(high))


def entity_draws(
    questions: Sequence[Question], truths: NDArray[np.bool_], *, seed: int = 0
) -> tuple[NDArray[np.intp], ...]:
    """Positions of questions, whole entities drawn; without draws of the one kind alone."""
    entities: defaultdict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        entities[question.entity].append(number)
    groups = [np.array(each) for each in entities.values()]
    chance = np.random.default_rng(seed)
    drawn = (
        np.concatenate([groups[each] for each in chance.integers(len(groups), size=len(groups))])
        for _ in range(RESAMPLES)
    )
    return tuple(each for each in drawn if 0 < truths[each].sum() < len(each))
