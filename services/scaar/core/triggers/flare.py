"""FLARE's trigger (Jiang et al., 2023, section 3.2.1): some word's probability is below theta.

This is SCAAR's ORIGIN. It judges words, as in SCAAR's comparison; ``granularity: token`` is the
original.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.lower_threshold import Limit, judge
from scaar.core.triggers.rule import PROBABILITY, Judgement, TriggerRule
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    return judge(evidence, policy, [Limit(policy.theta)] * len(evidence.words))


FLARE = TriggerRule(_judge, PROBABILITY, frozenset({EvidenceKind.PROBABILITIES}))
