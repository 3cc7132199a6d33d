"""What a gate passes of questions whose long tail is known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scaar.core.types import GateJudged
from scaar.evaluator.longtail.detection import Bounded, auroc, bounded, entity_draws
from scaar.evaluator.records import Question

_Floats = NDArray[np.float64]
_Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sifted:
    """The share of the questions that a gate judges long-tail, and how that meets the tail.

    ``precision`` is the share of the tail among those that it passes, ``recall`` the share of the
    tail that it passes; not a number where there are none. ``auroc`` is of its probabilities,
    whatever the threshold.
    """

    passed: Bounded
    precision: Bounded
    recall: Bounded
    auroc: Bounded


def sift(
    judged: Sequence[GateJudged],
    questions: Sequence[Question],
    tail: Sequence[bool],
    *,
    seed: int = 0,
) -> Sifted:
    """What the gate makes of the questions, each judged in its place, with intervals by entity."""
    truths = np.array(tail)
    passed = np.array([float(each.long_tail) for each in judged])
    probabilities = np.array([each.probability for each in judged])
    draws = entity_draws(questions, truths, seed=seed)
    return Sifted(
        passed=bounded(_share, passed, truths, draws),
        precision=bounded(_precision, passed, truths, draws),
        recall=bounded(_recall, passed, truths, draws),
        auroc=bounded(auroc, probabilities, truths, draws),
    )


def _share(passed: _Floats, truths: _Truths, _: float) -> float:
    return float(passed.mean())


def _precision(passed: _Floats, truths: _Truths, _: float) -> float:
    return float(truths[passed > 0].mean()) if passed.any() else math.nan


def _recall(passed: _Floats, truths: _Truths, _: float) -> float:
    return float(passed[truths].mean()) if truths.any() else math.nan
