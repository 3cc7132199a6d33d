"""Words, and what was found of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A maximal run of non-space characters of a text, punctuation attached."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JudgedWord:
    """A drafted word held against its threshold.

    ``probability`` is P' (SCAAR Eq. 4, 5), None where a token's log-probability is missing.
    ``contribution`` is r (Eq. 1), None where neither trigger nor query uses it. ``threshold``
    is theta_i (Eq. 3), ``capped`` says that the cap set it. ``uncertain``: the probability is
    below it, or it was raised beyond 1.

    A trigger that does not go by probabilities holds ``value`` against the threshold, and the word
    is uncertain where it is above. ``entropy`` is the mean over its tokens, ``attention`` what
    later tokens pay to it, scaled to mean 1 over the sentence (DRAGIN Eq. 3); None where the
    trigger does not use them, or the engine gave none.
    """

    text: str
    start: int
    end: int
    probability: float | None
    threshold: float
    uncertain: bool
    contribution: float | None = None
    capped: bool = False
    value: float | None = None
    entropy: float | None = None
    attention: float | None = None


@dataclass(frozen=True, slots=True)
class AttendedWord:
    """A word of the question or of the answer, and the attention paid to it from the trigger."""

    text: str
    attention: float
