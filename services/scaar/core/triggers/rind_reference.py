"""RIND as DRAGIN's authors' code computes it, for parity.

The attention is that of the draft alone, without the prompt or the token that begins a text, and
includes the attention of a token to itself. The share of a word is the sum over its tokens, scaled
to mean 1 over the sentence; its entropy is the mean over its tokens. Only content words trigger.

Two computations differ. The code takes the maximum attention of each head and then the mean over
heads; here the maximum of the mean over heads, since engines return this mean. The code processes
all text generated after the prompt; here the sentence.

Three faults of the code are not copied: a stop word alone may trigger if no content word does, the
weights are then not numbers, and a line break within a sentence leaves the sentence unchecked.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.word_classes import WordClass
from scaar.core.triggers.rind import RIND_THETA
from scaar.core.triggers.rule import Judgement, TriggerRule
from scaar.core.triggers.upper_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    entropies = evidence.mean_entropies
    shares = evidence.attention_received(with_itself=True)
    may = [each is WordClass.CONTENT for each in evidence.known_classes]
    values = [
        None if entropy is None else share * entropy
        for share, entropy in zip(shares, entropies, strict=True)
    ]
    return judge(evidence, policy, values, may=may, entropies=entropies, attention=shares)


RIND_REFERENCE = TriggerRule(
    _judge,
    RIND_THETA,
    frozenset({EvidenceKind.ENTROPY, EvidenceKind.OWN_ATTENTION, EvidenceKind.WORD_CLASSES}),
)
