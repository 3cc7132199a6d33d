"""The rule of a trigger: its needs, the range of its threshold, and its judgement of a draft."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from scaar.core.evidence.evidence import Evidence
from scaar.core.types import AttentionSpan, EffectivePolicy, EvidenceKind, JudgedWord


@dataclass(frozen=True, slots=True)
class ThetaRange:
    """The valid thresholds of a trigger: (0, ``maximum``], or [``minimum``, ``maximum``]."""

    default: float
    maximum: float = 1.0
    minimum: float | None = None

    def holds(self, theta: float) -> bool:
        """Return whether the threshold is in the range."""
        above = theta > 0.0 if self.minimum is None else theta >= self.minimum
        return above and theta <= self.maximum

    def __str__(self) -> str:
        opening = "(0" if self.minimum is None else f"[{self.minimum:g}"
        return f"{opening}, {self.maximum:g}]"


PROBABILITY = ThetaRange(0.8)
"""The range of a threshold for probabilities of words, below which they are uncertain."""

PROBABILITY_ABOVE = ThetaRange(0.5)
"""The range of a threshold for the probability that a sentence is wrong."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a draft, with the fields of :class:`~scaar.core.types.SentenceJudged`."""

    words: tuple[JudgedWord, ...]
    trigger: int | None
    score: float | None
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TriggerRule:
    """A trigger.

    ``judge`` takes the evidence of a draft with at least one word, and the policy with its
    settings. ``needs`` are the kinds of evidence that it uses. ``by_word`` is true if each word is
    judged alone, so that stop words can be spared and tokens judged instead.
    """

    judge: Callable[[Evidence, EffectivePolicy], Judgement]
    theta: ThetaRange
    needs: frozenset[EvidenceKind]
    by_word: bool = True
    spares_stop_words: bool = False
    """Whether stop words are never uncertain by default."""
    uses_theta_cap: bool = False
    withholds: bool = False
    """Whether an answer that is uncertain in the last round is not given."""
    attention_span: AttentionSpan | None = None
    """Default of the text over which attention is taken; None if that makes no difference."""


def first_uncertain(words: tuple[JudgedWord, ...]) -> int | None:
    """Return the position of the first uncertain word."""
    return next((at for at, word in enumerate(words) if word.uncertain), None)


def edge(score: float) -> float | None:
    """Return the score of an event: None if no theta is on the edge."""
    return score if math.isfinite(score) else None
