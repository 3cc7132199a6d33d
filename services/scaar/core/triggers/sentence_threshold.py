"""Comparison of a sentence as a whole with one threshold; no single word is uncertain."""

import math
from collections.abc import Sequence

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, edge
from scaar.core.types import EffectivePolicy, JudgedWord


def least_probable(evidence: Evidence) -> list[float]:
    """Return weights with which the trigger is the word with the lowest probability."""
    return [-(probability or 0.0) for probability in evidence.probabilities]


def judge(
    evidence: Evidence,
    policy: EffectivePolicy,
    value: float | None,
    *,
    weights: Sequence[float],
    entropies: Sequence[float | None] | None = None,
    inclusive: bool = False,
) -> Judgement:
    """Judge a sentence: it is uncertain if its value is above theta or unknown.

    With ``inclusive``, it is also uncertain if its value is theta. The trigger of an uncertain
    sentence is the first word with the largest weight.
    """
    contributions = evidence.carried_contributions
    words = tuple(
        JudgedWord(
            text=word.text,
            start=word.start,
            end=word.end,
            probability=probability,
            threshold=policy.theta,
            uncertain=False,
            contribution=contributions[at],
            value=value,
            entropy=None if entropies is None else entropies[at],
        )
        for at, (word, probability) in enumerate(
            zip(evidence.words, evidence.probabilities, strict=True)
        )
    )
    uncertain = value is None or value > policy.theta or (inclusive and value == policy.theta)
    heaviest = max(range(len(words)), key=lambda at: (weights[at], -at))
    score = math.inf if value is None else value
    return Judgement(words, heaviest if uncertain else None, edge(score))
