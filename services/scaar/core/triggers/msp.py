"""Maximum sequence probability (MSP; LM-Polygraph, Fadeeva et al., EMNLP 2023).

    MSP(y | x) = 1 - P(y | x) = 1 - prod_i p(z_i | z_<i, x) > theta

y is the sentence as greedy decoding writes it. It ranks sentences as ``surprisal_sum`` does. The
trigger is the word with the lowest probability.
"""

import math

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import PROBABILITY_ABOVE, Judgement, TriggerRule
from scaar.core.triggers.sentence_threshold import judge, least_probable
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    known = evidence.surprisals
    value = -math.expm1(-math.fsum(known)) if known else None
    return judge(evidence, policy, value, weights=least_probable(evidence))


MSP = TriggerRule(_judge, PROBABILITY_ABOVE, frozenset({EvidenceKind.PROBABILITIES}), by_word=False)
