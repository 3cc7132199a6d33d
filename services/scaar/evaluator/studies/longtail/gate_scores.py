"""How well a gate finds a known long tail."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scaar.core.types import GateJudged
from scaar.evaluator.records import Question
from scaar.evaluator.statistics.detection import auroc, entity_draws
from scaar.evaluator.studies.longtail.detection import Bounded, bounded

_Floats = NDArray[np.float64]
_Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GateScores:
    """The share of the questions that a gate judges long-tail, and how well it finds the tail.

    ``precision`` is the share of the tail among the questions that pass, ``recall`` the share of
    the tail that passes; not a number if there are none. ``auroc`` is that of the probabilities,
    independent of the threshold.
    """

    passed: Bounded
    precision: Bounded
    recall: Bounded
    auroc: Bounded


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
