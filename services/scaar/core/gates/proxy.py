"""A proxy of GECE: what can be told of a question before it is answered, and learned from labels.

It is the project's own and no part of GECE, whose label needs the reference answer
(:mod:`scaar.evaluator.longtail.gece`): a logistic model of how often the question's words are met
and how sure the model is of the first sentence that it drafts by itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.types import Token


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a question: frequencies of its words, and the draft's mean probability."""

    average_frequency: float
    rarest_frequency: float
    confidence: float

    @property
    def features(self) -> tuple[float, float, float]:
        """What the weights are of: the logarithms of the frequencies, and the confidence."""
        return math.log(self.average_frequency), math.log(self.rarest_frequency), self.confidence


@dataclass(frozen=True, slots=True)
class GateProxy:
    """The learned model; ``threshold`` is the probability from which a question is long-tail.

    ``model`` is the language model that it was learned from, ``revision`` a digest of its file.
    """

    model: str
    revision: str
    statistics: WordStatistics
    bias: float
    weights: tuple[float, float, float]
    threshold: float

    def evidence(self, question: str, draft: Sequence[Token]) -> Evidence:
        """What is known of a question whose first sentence was drafted with these tokens."""
        counted = self.statistics
        return Evidence(
            counted.average(question), counted.rarest(question), mean_probability(draft)
        )

    def probability(self, evidence: Evidence) -> float:
        """How likely the question is of the long tail, in [0, 1]."""
        pairs = zip(self.weights, evidence.features, strict=True)
        return logistic(self.bias + sum(weight * feature for weight, feature in pairs))


def mean_probability(tokens: Sequence[Token]) -> float:
    """The mean of the tokens' probabilities; one that is unknown counts as 0, as of no tokens."""
    known = [0.0 if token.logprob is None else math.exp(token.logprob) for token in tokens]
    return fmean(known or [0.0])


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), for any value."""
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
