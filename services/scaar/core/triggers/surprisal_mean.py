"""The mean surprisal of the tokens: u = (1 / n) sum_i -ln p(z_i | z_<i, x) >= theta, in nats.

The uncertainty of DTR (Chen et al., arXiv 2601.03908), with the comparison and the threshold of the
authors' code, ChenWangHKU/DTR. That code leaves out the last token, which ends the text; the tokens
of a draft are those of its text, so u is over all of them. It is the logarithm of the perplexity
(:mod:`scaar.core.triggers.perplexity`). The trigger is the word with the lowest probability.
"""

import math

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge, least_probable
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    known = evidence.surprisals
    value = math.fsum(known) / len(known) if known else None
    return judge(evidence, policy, value, weights=least_probable(evidence), inclusive=True)


SURPRISAL_MEAN = TriggerRule(
    _judge,
    ThetaRange(0.001, maximum=1e6),
    frozenset({EvidenceKind.PROBABILITIES}),
    by_word=False,
)
