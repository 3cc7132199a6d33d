"""Scores by reflection tokens, as in the code of Self-RAG's authors (run_short_form.py)."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scaar.core.prompts.reflection import (
    FULLY_SUPPORTED,
    NO_RETRIEVAL,
    PARTIALLY_SUPPORTED,
    RELEVANCES,
    RELEVANT,
    RETRIEVAL,
    SUPPORTS,
    UTILITIES,
)
from scaar.core.types import Token

_UTILITY_WEIGHTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
_WEIGHT_OF_UTILITY = 0.5
_UNKNOWN_LOGPROB = -100.0
"""Log-probability of a token for which the engine returned none."""


@dataclass(frozen=True, slots=True)
class SegmentScores:
    """The judgements of a segment, and how likely the model finds its text."""

    relevance: float
    support: float
    utility: float
    likelihood: float

    @property
    def total(self) -> float:
        """The score by which candidates are ranked (Self-RAG Eq. 3 and 4)."""
        judged = self.relevance + self.support + _WEIGHT_OF_UTILITY * self.utility
        return self.likelihood + judged


def probability_of_retrieving(probabilities: Mapping[str, float]) -> float:
    """Return the probability of ``[Retrieval]`` as a share of it and ``[No Retrieval]``."""
    return _shares(probabilities, (RETRIEVAL, NO_RETRIEVAL))[RETRIEVAL]


def scores_of(tokens: Sequence[Token]) -> SegmentScores:
    """Return the scores of a segment from its tokens, the first of which judges the passage.

    Support and utility are 0 if the model wrote no token of them.
    """
    relevance = _shares(probabilities_at(tokens[0]), RELEVANCES)[RELEVANT] if tokens else 0.0
    support, utility = _judged(tokens, SUPPORTS), _judged(tokens, UTILITIES)
    logprobs = [_UNKNOWN_LOGPROB if each.logprob is None else each.logprob for each in tokens]
    return SegmentScores(
        relevance=relevance,
        support=support[FULLY_SUPPORTED] + 0.5 * support[PARTIALLY_SUPPORTED],
        utility=sum(
            weight * utility[name] for weight, name in zip(_UTILITY_WEIGHTS, UTILITIES, strict=True)
        ),
        likelihood=math.exp(sum(logprobs) / len(logprobs)) if logprobs else 0.0,
    )


def probabilities_at(token: Token) -> dict[str, float]:
    """Return the probabilities of the named tokens at the place of a token."""
    return {each.text: math.exp(each.logprob) for each in token.named}


def _judged(tokens: Sequence[Token], names: Collection[str]) -> dict[str, float]:
    """Return the shares of the names at the place of the first of them; 0 without one."""
    at = next((token for token in tokens if token.text in names), None)
    return _shares({} if at is None else probabilities_at(at), names)


def _shares(probabilities: Mapping[str, float], names: Collection[str]) -> dict[str, float]:
    """Return the probabilities of the names, divided by their sum; all 0 if that is 0."""
    known = {name: probabilities.get(name, 0.0) for name in names}
    total = sum(known.values())
    return {name: value / total if total else 0.0 for name, value in known.items()}
