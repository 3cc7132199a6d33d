"""Words, and the judgements about them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A maximal run of non-space characters of a text, punctuation attached."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JudgedWord:
    """A word of a draft, compared with its threshold.

    ``probability`` is P' (SCAAR Eq. 4, 5), None if the log-probability of a token is missing.
    ``contribution`` is r (Eq. 1), None if neither trigger nor query uses it. ``threshold`` is
    theta_i (Eq. 3), and ``capped`` is whether the cap limits it. A word is ``uncertain`` if its
    probability is below its threshold, or if the threshold was raised above 1.

    A trigger that does not use probabilities compares ``value`` with the threshold; the word is
    uncertain if the value is greater. ``entropy`` is the mean over the tokens of the word,
    ``attention`` the attention that later tokens pay to the word, scaled to mean 1 over the
    sentence (DRAGIN Eq. 3). Both are None if the trigger does not use them or the engine returned
    none.
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
    """A word of the question or the answer, and the attention that the trigger pays to the word."""

    text: str
    attention: float
