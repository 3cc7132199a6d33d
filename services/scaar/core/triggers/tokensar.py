"""TokenSAR (Duan et al., ACL 2024): the sentence's surprisal, weighted by relevance.

    TokenSAR(s, x) = sum_i R~(z_i) * -ln p(z_i | s_<i, x),   R~(z_i) = R(z_i) / sum_n R(z_n)

R is the relevance of a token: 1 minus the similarity of the text with and without it, which is the
contribution r of SCAAR Eq. 1. The scorer scores words, so a token has the contribution of its word,
and a token over two words counts in both. If no word contributes, all tokens count alike. The
trigger is the word with the largest product of contribution and surprisal.
"""

import math

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    weights = [
        math.inf if probability is None else -r * math.log(probability) if probability else math.inf
        for r, probability in zip(evidence.known_contributions, evidence.probabilities, strict=True)
    ]
    return judge(evidence, policy, evidence.weighted_surprisal, weights=weights)


TOKENSAR = TriggerRule(
    _judge,
    ThetaRange(0.5, maximum=1e4),
    frozenset({EvidenceKind.PROBABILITIES, EvidenceKind.CONTRIBUTIONS}),
    by_word=False,
)
