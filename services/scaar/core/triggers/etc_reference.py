"""ETC's entropy trend as its authors' code computes it, for parity.

It differs from the paper (:mod:`scaar.core.triggers.etc`) in five points:

- only content words count (nouns, adjectives, verbs, names, numbers);
- the weight is a = 0.9 + 0.1 w_t, so M_t = a d2_t + (1 - a) d2_(t-1);
- a difference of exactly 0 counts as missing: the next one is taken from the last that is not 0;
- M_t is multiplied by the largest attention that the word pays to any word of the sentence up to
  and with itself, scaled over the sentence to mean 1;
- the sign counts: a word triggers where the product is above theta.

The code splits punctuation from words, and computes trend and attention over all text generated
after the prompt; here words keep their punctuation, and both are computed over the sentence. Not
copied: 0/0 in the weights, which makes the code skip the word; both differences are equal there,
and so is their average.
"""

from collections.abc import Sequence

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.word_classes import WordClass
from scaar.core.triggers.etc import entropies_at, weight_of
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.upper_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind


def trend(entropies: Sequence[float]) -> tuple[float | None, ...]:
    """Return M_t at the place of each entropy; None where there is no second difference."""
    values: list[float | None] = []
    before, total, count = 0.0, 0.0, 0
    for second in _second_differences(entropies):
        if not second:
            values.append(None)
            continue
        total, count = total + second, count + 1
        share = 0.9 + 0.1 * weight_of(second, before, total / count)
        values.append(share * second + (1 - share) * before)
        before = second
    return tuple(values)


def _second_differences(entropies: Sequence[float]) -> list[float]:
    """Return each first difference less the last one before it that is not 0; 0 for none."""
    seconds, last = [], 0.0
    for t, entropy in enumerate(entropies):
        first = entropy - entropies[t - 1] if t else 0.0
        seconds.append(first - last if last else 0.0)
        last = first or last
    return seconds


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    entropies = evidence.largest_entropies
    shares = evidence.attention_paid()
    places = [at for at, each in enumerate(evidence.known_classes) if each is WordClass.CONTENT]
    known = entropies_at(evidence, places)
    values: list[float | None] = [0.0] * len(entropies)
    may = [False] * len(entropies)
    if known is None:  # there is no trend across a gap
        for at in places:
            may[at], values[at] = entropies[at] is None, None
    else:
        for at, value in zip(places, trend(known), strict=True):
            may[at], values[at] = value is not None, shares[at] * (value or 0.0)
    return judge(evidence, policy, values, may=may, entropies=entropies, attention=shares)


ETC_REFERENCE = TriggerRule(
    _judge,
    ThetaRange(1.3, maximum=100.0),
    frozenset({EvidenceKind.ENTROPY, EvidenceKind.ATTENTION, EvidenceKind.WORD_CLASSES}),
)
