"""A trigger: the three least probable words of a sentence are together less certain than theta."""

from statistics import fmean

from scaar.extensions import (
    EffectivePolicy,
    Evidence,
    EvidenceKind,
    Judgement,
    ThetaRange,
    TriggerRule,
    judge_sentence,
)

COUNT = 3


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    # An unknown probability counts as 0.
    probabilities = [each or 0.0 for each in evidence.probabilities]
    doubts = [1.0 - each for each in probabilities]
    return judge_sentence(
        evidence, policy, fmean(sorted(doubts, reverse=True)[:COUNT]), weights=doubts
    )


WEAKEST_WORDS = TriggerRule(
    _judge, ThetaRange(default=0.5), frozenset({EvidenceKind.PROBABILITIES}), by_word=False
)
