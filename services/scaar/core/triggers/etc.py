"""Entropy trend (ETC, Li et al., AAAI 2026, Eq. 7 to 12) as the paper prints it.

H is the entropy of each word that is not a stop word, in text order: the largest of its tokens'
entropies (with ``granularity: token``, each token's, as printed). With d2_t the second difference
H_(t+2) - 2 H_(t+1) + H_t (Eq. 9) and E_t the mean of d2_1 to d2_t (Eq. 11):

    w_t = |d2_(t-1) - E_t| / (|d2_t - E_t| + |d2_(t-1) - E_t|)    (Eq. 10)
    M_t = w_t d2_t + (1 - w_t) d2_(t-1)                           (Eq. 12)

A word triggers where |M_t| > theta. Eq. 12 prints the second weight as w_(t-1); the text calls the
sum a weighted average, so it is read as 1 - w_t, as in the authors' code. d2_0 is 0. The paper
triggers from |M_t| >= theta on. The authors' code differs: see
:mod:`scaar.core.triggers.etc_reference`.
"""

from collections.abc import Sequence

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.word_classes import WordClass
from scaar.core.triggers.rule import Judgement, ThetaRange, TriggerRule
from scaar.core.triggers.upper_threshold import judge
from scaar.core.types import EffectivePolicy, EvidenceKind


def trend(entropies: Sequence[float]) -> tuple[float | None, ...]:
    """Return M_t at the place of each entropy; None for the first two, which have none."""
    values: list[float | None] = [None] * min(2, len(entropies))
    before, total = 0.0, 0.0
    for t in range(2, len(entropies)):
        second = entropies[t] - 2 * entropies[t - 1] + entropies[t - 2]
        total += second
        weight = weight_of(second, before, total / (t - 1))
        values.append(weight * second + (1 - weight) * before)
        before = second
    return tuple(values)


def weight_of(second: float, before: float, mean: float) -> float:
    """Return w_t of Eq. 10, in [0, 1]; 1 for 0/0, where the two differences are equal."""
    apart, before_apart = abs(second - mean), abs(before - mean)
    return before_apart / (apart + before_apart) if apart + before_apart else 1.0


def entropies_at(evidence: Evidence, places: Sequence[int]) -> list[float] | None:
    """Return the entropies of the words at ``places``; None where one of them is unknown."""
    entropies = evidence.largest_entropies
    known = [entropy for at in places if (entropy := entropies[at]) is not None]
    return known if len(known) == len(places) else None


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    entropies = evidence.largest_entropies
    places = [at for at, each in enumerate(evidence.known_classes) if each is not WordClass.STOP]
    known = entropies_at(evidence, places)
    values: list[float | None] = [0.0] * len(entropies)
    may = [False] * len(entropies)
    if known is None:  # there is no trend across a gap
        for at in places:
            may[at], values[at] = entropies[at] is None, None
    else:
        for at, value in zip(places, trend(known), strict=True):
            may[at], values[at] = value is not None, abs(value or 0.0)
    return judge(evidence, policy, values, may=may, entropies=entropies)


ETC = TriggerRule(
    _judge,
    ThetaRange(1.0, maximum=100.0),
    frozenset({EvidenceKind.ENTROPY, EvidenceKind.WORD_CLASSES}),
)
