"""Plain uncertainty (AdaRAGUE, Moskvoretskii et al., ACL 2025): the sentence's perplexity.

The perplexity is exp of the mean negative log-probability of all tokens. The trigger is the word
with the lowest probability.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.words import geometric_mean
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.sentence_threshold import judge, least_probable
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    mean = geometric_mean([token.logprob for token in evidence.tokens])
    value = 1.0 / mean if mean else None
    return judge(evidence, policy, value, weights=least_probable(evidence))


PERPLEXITY = TriggerRule(
    _judge,
    ThetaRange(1.2, maximum=1e6, minimum=1.0),
    frozenset({EvidenceKind.PROBABILITIES}),
    by_word=False,
)
