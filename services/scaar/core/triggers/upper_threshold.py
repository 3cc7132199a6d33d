"""Comparison of a value of each word with one threshold: above it, the word is uncertain."""

import math
from collections.abc import Sequence

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.word_classes import WordClass
from scaar.core.triggers.rule import Judgement, edge, first_uncertain
from scaar.core.types import EffectivePolicy, JudgedWord


def judge(
    evidence: Evidence,
    policy: EffectivePolicy,
    values: Sequence[float | None],
    *,
    may: Sequence[bool],
    entropies: Sequence[float | None],
    attention: Sequence[float] | None = None,
) -> Judgement:
    """Judge every word by its value: above theta it is uncertain, and so is an unknown value.

    ``may`` selects the words that are judged; the others are never uncertain.
    """
    contributions = evidence.carried_contributions
    words = tuple(
        JudgedWord(
            text=word.text,
            start=word.start,
            end=word.end,
            probability=probability,
            threshold=policy.theta,
            uncertain=may[at] and (values[at] is None or _value(values[at]) > policy.theta),
            contribution=contributions[at],
            value=values[at],
            entropy=entropies[at],
            attention=None if attention is None else attention[at],
        )
        for at, (word, probability) in enumerate(
            zip(evidence.words, evidence.probabilities, strict=True)
        )
    )
    judged = [_value(value) for value, each in zip(values, may, strict=True) if each]
    return Judgement(words, first_uncertain(words), edge(max(judged, default=-math.inf)))


def judged_words(evidence: Evidence, policy: EffectivePolicy) -> list[bool]:
    """Return which words are judged: not the stop words, if the policy spares them."""
    if not policy.spare_stop_words:
        return [True] * len(evidence.words)
    return [each is not WordClass.STOP for each in evidence.known_classes]


def _value(value: float | None) -> float:
    return math.inf if value is None else value
