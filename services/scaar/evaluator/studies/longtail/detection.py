"""How well a label or a gate finds a known tail: its precision at a share, and its AUROC."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.types import GateJudged
from scaar.evaluator.records import Question
from scaar.evaluator.statistics.detection import (
    Truths,
    auroc,
    entity_draws,
    estimated,
    share_of_true,
)
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.longtail.gece import count_of
from scaar.evaluator.studies.longtail.records import Label

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
"""The scores to order questions by: GECE, its ablations and its parts; the highest is the tail."""


@dataclass(frozen=True, slots=True)
class Found:
    """How well an order finds the tail: precision at the share that it ranks first, and AUROC.

    Both have 95% bootstrap intervals over entities.
    """

    by: str
    precision: Estimate
    auroc: Estimate


def tail_of(questions: Sequence[Question], tail: str) -> tuple[bool, ...]:
    """Return whether each question is in the tail, ``LABEL=VALUE,...``.

    Raises:
        InvalidRequest: the text is invalid, a question lacks the label, or all or none match.
    """
    name, equals, values = tail.partition("=")
    members = {value.strip() for value in values.split(",")}
    if not equals or not name or members == {""}:
        raise InvalidRequest.of("--tail", f"must be LABEL=VALUE,..., not {tail!r}")
    for question in questions:
        labels = dict(question.labels)
        if name not in labels:
            known = ", ".join(labels) or "none"
            text = f"question {question.id} has no label {name!r}; it has {known}"
            raise InvalidRequest.of("--tail", text)
    found = tuple(dict(question.labels)[name] in members for question in questions)
    if all(found) or not any(found):
        how_many = "every question is" if all(found) else "no question is"
        raise InvalidRequest.of(
            "--tail", f"{how_many} in the tail {tail!r}, so nothing can be detected"
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
    """Return how well each order of :data:`BY` finds the tail."""
    truths = np.array(tail)
    draws = entity_draws([each.entity for each in questions], truths, seed=seed)
    precision = partial(precision_at, share=share)
    found = []
    for name, score in BY.items():
        scores = np.array([*map(score, labels)])
        pair = (estimated(each, scores, truths, draws) for each in (precision, auroc))
        found.append(Found(name, *pair))
    return tuple(found)


def precision_at(scores: Floats, truths: Truths, share: float) -> float:
    """Return the share of the tail among the questions with the highest scores.

    Questions that tie at the edge have equal weight.
    """
    most = count_of(share, len(scores))
    edge = np.sort(scores)[-most]
    above, at_edge = scores > edge, scores == edge
    left = most - above.sum()
    return float((truths[above].sum() + truths[at_edge].mean() * left) / most)


@dataclass(frozen=True, slots=True)
class GateScores:
    """The share of the questions that a gate judges long-tail, and how well it finds the tail.

    ``precision`` is the share of the tail among the questions that pass, ``recall`` the share of
    the tail that passes; undefined if there are none. ``auroc`` is that of the probabilities,
    independent of the threshold.
    """

    passed: Estimate
    precision: Estimate
    recall: Estimate
    auroc: Estimate


def score_gate(
    judged: Sequence[GateJudged],
    questions: Sequence[Question],
    tail: Sequence[bool],
    *,
    seed: int = 0,
) -> GateScores:
    """Return the scores of a gate's judgements of the questions, with intervals over entities."""
    truths = np.array(tail)
    passed = np.array([float(each.passed) for each in judged])
    probabilities = np.array([each.probability for each in judged])
    draws = entity_draws([each.entity for each in questions], truths, seed=seed)
    return GateScores(
        passed=estimated(_share, passed, truths, draws),
        precision=estimated(_precision, passed, truths, draws),
        recall=estimated(share_of_true, passed, truths, draws),
        auroc=estimated(auroc, probabilities, truths, draws),
    )


def _share(passed: Floats, _: Truths) -> float:
    return float(passed.mean())


def _precision(passed: Floats, truths: Truths) -> float:
    return share_of_true(truths.astype(np.float64), passed > 0)
