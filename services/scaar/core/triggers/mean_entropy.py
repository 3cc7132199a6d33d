"""Plain uncertainty (AdaRAGUE, Moskvoretskii et al., ACL 2025): the sentence's mean entropy.

The mean is over all tokens, in nats. The trigger is the word with the largest mean entropy.
"""

import math

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    entropies = evidence.mean_entropies
    weights = [math.inf if entropy is None else entropy for entropy in entropies]
    return judge(evidence, policy, evidence.mean_entropy, weights=weights, entropies=entropies)


MEAN_ENTROPY = TriggerRule(
    _judge, ThetaRange(0.5, maximum=100.0), frozenset({EvidenceKind.ENTROPY}), by_word=False
)
