"""The project's white-box weighting: as ``surprisal``, with attention instead of r'.

The share of a word is the attention that it receives from later tokens, scaled to mean 1 (DRAGIN
Eq. 3). SCAAR's row ATTN is RIND itself (:mod:`scaar.core.triggers.rind`).
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.lower_threshold import judge
from scaar.core.triggers.rule import PROBABILITY, Judgement, TriggerRule
from scaar.core.triggers.surprisal import limits
from scaar.core.types import AttentionSpan, EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    shares = evidence.attention_received()
    return judge(evidence, policy, limits(shares, policy.theta), attention=shares)


ATTENTION = TriggerRule(
    _judge,
    PROBABILITY,
    frozenset({EvidenceKind.PROBABILITIES, EvidenceKind.ATTENTION}),
    attention_span=AttentionSpan.SENTENCE,
)
