"""Semantic contribution weighting as printed (SCW, SCAAR Eq. 3): theta_i rises with r.

theta_i = min(theta_cap, theta * exp(r)). Eq. 3 prints r; with r' of Eq. 2 it could not work: some
word always has r' >= 1, and its threshold would exceed 1 for any theta above 0.368.
"""

import math

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.lower_threshold import Limit, judge
from scaar.core.triggers.rule import PROBABILITY, Judgement, TriggerRule
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    limits = []
    for r in evidence.known_contributions:
        raised = policy.theta * math.exp(r)
        limits.append(
            Limit(
                min(policy.theta_cap, raised),
                capped=raised > policy.theta_cap,
                factor=math.exp(r),
            )
        )
    return judge(evidence, policy, limits)


EXP_RAW = TriggerRule(
    _judge,
    PROBABILITY,
    frozenset({EvidenceKind.PROBABILITIES, EvidenceKind.CONTRIBUTIONS}),
    uses_theta_cap=True,
)
