"""The surprisal of the sentence: sum_i -ln p(z_i | z_<i, x) > theta, in nats.

It is -ln P(y | x), the score of :mod:`scaar.core.triggers.msp` on a logarithmic scale, as in the
code of LM-Polygraph (Fadeeva et al., EMNLP 2023). Unlike the perplexity, it grows with the length
of the sentence. The trigger is the word with the lowest probability.
"""

import math

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge, least_probable
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    known = evidence.surprisals
    value = math.fsum(known) if known else None
    return judge(evidence, policy, value, weights=least_probable(evidence))


SURPRISAL_SUM = TriggerRule(
    _judge,
    ThetaRange(2.0, maximum=1e6),
    frozenset({EvidenceKind.PROBABILITIES}),
    by_word=False,
)
