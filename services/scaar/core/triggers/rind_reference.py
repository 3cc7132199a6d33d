"""RIND as DRAGIN's authors' code computes it, for parity.

The attention is that of the draft by itself, without the prompt or the token that begins a text:
of all that the model writes on from the last rewritten sentence, the token that ends it included.
A token receives the maximum attention of each head, its own included, averaged over heads. The
share of a word is the sum over its tokens, scaled to mean 1 over the sentence; its entropy is the
mean over its tokens. Only content words trigger.

The code differs in that it ends a draft at its token limit in the middle of a sentence, and counts
the token that ends a text as a part of the last word. A draft here starts again at a sentence whose
start lies within a token.

Three faults of the code are not copied: a stop word alone may trigger if no content word does, the
weights are then not numbers, and a line break within a sentence leaves the sentence unchecked.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.word_classes import WordClass
from scaar.core.triggers.rind import RIND_THETA
from scaar.core.triggers.rule import Judgement, TriggerRule
from scaar.core.triggers.upper_threshold import judge
from scaar.core.types import AttentionSpan, EffectivePolicy, EvidenceKind


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    entropies = evidence.mean_entropies
    shares = evidence.own_attention_received()
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
    attention_span=AttentionSpan.DRAFT,
)
