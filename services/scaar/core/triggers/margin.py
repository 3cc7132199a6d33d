"""The margin between the two most probable tokens (TARG, Wang et al., TMLR 2026).

    U = (1/n) sum_i phi(g_i) > theta,   g_i = ln p_i(1) - ln p_i(2),   phi(g) = exp(-g)

g_i is the gap between the two largest logits at token i, which is that of their log-probabilities.
The paper takes a falling function phi of the gap; with exp(-g), its value is p_i(2) / p_i(1), in
[0, 1]. The paper judges the first 20 tokens or so of a draft of the whole answer, once; this
trigger judges each sentence. The trigger is the word with the smallest gap.
"""

import math

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.words import tokens_of
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    links = [None if gap is None else math.exp(-gap) for gap in evidence.margins]
    known = [link for link in links if link is not None]
    value = math.fsum(known) / len(known) if known and len(known) == len(links) else None
    weights = [
        max((1.0 if links[at] is None else links[at] or 0.0 for at in of_word), default=0.0)
        for of_word in tokens_of(evidence.words, evidence.tokens)
    ]
    return judge(evidence, policy, value, weights=weights)


MARGIN = TriggerRule(_judge, ThetaRange(0.2), frozenset({EvidenceKind.TOP_TOKENS}), by_word=False)
