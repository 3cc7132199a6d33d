"""QuCo-RAG's check of a sentence: the corpus has no occurrence of what the sentence relates.

Min et al., arXiv 2512.19134. A sentence relates its first entity, the head h, to each other entity
t (:mod:`scaar.core.text.entities`). It is uncertain if for some t

    1 / (1 + n(h, t)) > theta

where n(h, t) is how often the two occur together within 1,000 words of a text of the corpus. At
theta 0.5 that is n(h, t) < 1, the paper's threshold. A sentence with one entity, which it relates
to nothing, is uncertain if the entity occurs less than ``min_count`` times. A sentence without
entities is certain. The words of the uncertain entities are the uncertain words.
"""

from scaar.core.evidence.evidence import Evidence
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.upper_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind

_UNSEEN = 1.0


def doubt(together: int) -> float:
    """Return what is compared with theta for two entities that occur together this often."""
    return 1.0 / (1.0 + together)


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    counts = evidence.known_counts
    # A rare head is uncertain at any theta below 1.
    spans = dict.fromkeys(counts.rare(policy.min_count), _UNSEEN)
    spans |= zip(counts.statement.tails, map(doubt, counts.together), strict=True)
    values = [0.0] * len(evidence.words)
    for (start, end), value in spans.items():
        values[start:end] = [value] * (end - start)
    count = len(values)
    return judge(evidence, policy, values, may=[True] * count, entropies=[None] * count)


CORPUS_COUNTS = TriggerRule(
    _judge, ThetaRange(0.5), frozenset({EvidenceKind.CORPUS_COUNTS}), by_word=False
)
