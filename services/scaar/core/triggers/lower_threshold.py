"""Comparison of the probability of each word with its own threshold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.core.evidence.evidence import Evidence
from scaar.core.text.word_classes import WordClass
from scaar.core.triggers.rule import Judgement, edge, first_uncertain
from scaar.core.types import EffectivePolicy, JudgedWord


@dataclass(frozen=True, slots=True)
class Limit:
    """The threshold of a word, and how it follows from theta: by a factor, or by a share.

    A word with share 0 never triggers.
    """

    threshold: float
    capped: bool = False
    factor: float = 1.0
    share: float = 1.0


def judge(
    evidence: Evidence,
    policy: EffectivePolicy,
    limits: Sequence[Limit],
    *,
    attention: Sequence[float] | None = None,
) -> Judgement:
    """Judge every word by its threshold: a word is uncertain if P' < theta_i.

    An unknown probability counts as 0, so the word is uncertain unless it never triggers. A word
    capped at 1 is uncertain at any probability: as printed (SCAAR Eq. 3), its threshold is above 1.
    Stop words are spared if the policy says so.
    """
    words, score = [], math.inf
    spared = _spared(evidence, policy)
    contributions = evidence.carried_contributions
    for at, (word, probability, limit) in enumerate(
        zip(evidence.words, evidence.probabilities, limits, strict=True)
    ):
        may = not spared[at] and limit.share > 0.0
        judged = JudgedWord(
            text=word.text,
            start=word.start,
            end=word.end,
            probability=probability,
            threshold=limit.threshold,
            uncertain=may and _is_below(probability, limit),
            contribution=contributions[at],
            capped=limit.capped,
        )
        words.append(judged if attention is None else replace(judged, attention=attention[at]))
        if may:
            score = min(score, _edge(probability or 0.0, limit, policy.theta_cap))
    judged_words = tuple(words)
    return Judgement(judged_words, first_uncertain(judged_words), edge(score))


def _spared(evidence: Evidence, policy: EffectivePolicy) -> list[bool]:
    if not policy.spare_stop_words:
        return [False] * len(evidence.words)
    return [each is WordClass.STOP for each in evidence.known_classes]


def _is_below(probability: float | None, limit: Limit) -> bool:
    """Whether P' < theta_i; a tiny r' may reduce theta_i to 0, a large r raise it above 1."""
    return (
        not probability
        or probability < limit.threshold
        or (limit.capped and limit.threshold >= 1.0)
    )


def _edge(probability: float, limit: Limit, cap: float) -> float:
    """Return the theta from which the word is uncertain."""
    if cap < 1.0 and probability >= cap:
        return math.inf
    return float(probability**limit.share) / limit.factor
