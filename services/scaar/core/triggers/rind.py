"""RIND (DRAGIN, Su et al., 2024, Eq. 5): some word has a_i * H_i * s_i > theta.

H_i is the mean entropy of the word's tokens over the full vocabulary (Eq. 1). a_i is the attention
that the word receives from later tokens (Eq. 3), of the sentence or with ``attention_span`` of the
draft, scaled to mean 1 over the sentence as in the authors' code. s_i is 0 for stop words (Eq. 4),
unless ``spare_stop_words`` is false.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.upper_threshold import judge, judged_words
from scaar.core.types import AttentionSpan, EffectivePolicy, EvidenceKind

RIND_THETA = ThetaRange(1.0, maximum=100.0)
"""The papers use 0.75 to 1.5."""


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    entropies = evidence.mean_entropies
    shares = evidence.attention_received()
    may = judged_words(evidence, policy)
    values = [
        (None if entropy is None else share * entropy) if each else 0.0
        for share, entropy, each in zip(shares, entropies, may, strict=True)
    ]
    return judge(evidence, policy, values, may=may, entropies=entropies, attention=shares)


RIND = TriggerRule(
    _judge,
    RIND_THETA,
    frozenset({EvidenceKind.ENTROPY, EvidenceKind.ATTENTION}),
    spares_stop_words=True,
    attention_span=AttentionSpan.SENTENCE,
)
