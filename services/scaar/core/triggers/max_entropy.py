"""Maximum token entropy (AdaRAGUE, Moskvoretskii et al., ACL 2025): max_i H(z_i) > theta, in nats.

The entropies are over the full vocabulary. A word is uncertain if the largest entropy of its tokens
is above theta, so the sentence is uncertain if that of any token is.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.upper_threshold import judge, judged_words
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    may = judged_words(evidence, policy)
    values = [
        entropy if each else 0.0
        for entropy, each in zip(evidence.largest_entropies, may, strict=True)
    ]
    return judge(evidence, policy, values, may=may, entropies=evidence.mean_entropies)


MAX_ENTROPY = TriggerRule(_judge, ThetaRange(1.0, maximum=100.0), frozenset({EvidenceKind.ENTROPY}))
