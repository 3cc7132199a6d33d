"""The project's own check of an answer by the passages that it was written from.

The new words of a draft are those that the question does not have
(:mod:`scaar.core.text.new_words`). The draft is uncertain if

    u > theta

where u is the share of its new words that no passage in the prompt has, if these are two or more,
or 1 if such a word is a number, a name or code. A draft without new words is certain: it only
repeats the question, or chooses between what the question names. The unsupported words are the
uncertain words.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.upper_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind

_MIN_UNSUPPORTED = 2
"""One word may be "Yes", or another word for the same ("begun" for "started")."""


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    new = evidence.known_support
    unsupported = [word for word in new if not word.supported]
    share = len(unsupported) / len(new) if len(unsupported) >= _MIN_UNSUPPORTED else 0.0
    values = [0.0] * len(evidence.words)
    for word in unsupported:
        values[word.at] = 1.0 if word.is_value else share
    count = len(values)
    return judge(evidence, policy, values, may=[True] * count, entropies=[None] * count)


UNSUPPORTED = TriggerRule(
    _judge,
    ThetaRange(0.4, minimum=0.0),
    frozenset({EvidenceKind.SUPPORT}),
    by_word=False,
    withholds=True,
)
