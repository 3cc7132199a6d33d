"""A proxy of GECE, learned from its labels, that judges a question before its answer.

It is the project's own and not part of GECE, whose label needs the reference answer
(:mod:`scaar.evaluator.studies.longtail.gece`): a logistic model of the frequencies of the
question's words and the model's confidence in the first sentence that it drafts alone.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.types import Capability, Token

FEATURES = ("average_frequency", "rarest_frequency", "confidence")
"""The features of a judgement: the average frequency of the question's words and that of the rarest
one, in (0, 1], and the mean probability of the tokens of the first drafted sentence, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a question, with the fields of :data:`FEATURES`."""

    average_frequency: float
    rarest_frequency: float
    confidence: float

    @property
    def inputs(self) -> tuple[float, float, float]:
        """The inputs of the model: logarithms of the frequencies, and the confidence."""
        return math.log(self.average_frequency), math.log(self.rarest_frequency), self.confidence


@dataclass(frozen=True, slots=True)
class GateProxy:
    """The learned model; from ``threshold`` on, a question is long-tail.

    ``model`` is the language model that labelled the questions, ``revision`` a digest of the file.
    """

    model: str
    revision: str
    statistics: WordStatistics
    bias: float
    weights: tuple[float, float, float]
    threshold: float

    name = "gece_proxy"
    policies = ()
    needs = frozenset({Capability.LOGPROBS})
    needs_draft = True

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the probability that the question is long-tail, and its features."""
        evidence = self.evidence(question, model.draft)
        return GateJudgement(self.probability(evidence), asdict(evidence))

    def evidence(self, question: str, draft: Sequence[Token]) -> Evidence:
        """Return the evidence of a question from the tokens of its first drafted sentence."""
        counted = self.statistics
        return Evidence(
            counted.average(question), counted.rarest(question), mean_probability(draft)
        )

    def probability(self, evidence: Evidence) -> float:
        """Return the probability that the question is long-tail."""
        pairs = zip(self.weights, evidence.inputs, strict=True)
        return logistic(self.bias + sum(weight * value for weight, value in pairs))


def mean_probability(tokens: Sequence[Token]) -> float:
    """Return the mean probability of the tokens; an unknown one counts as 0; 0 for no tokens."""
    known = [0.0 if token.logprob is None else math.exp(token.logprob) for token in tokens]
    return fmean(known or [0.0])


def logistic(value: float) -> float:
    """Return 1 / (1 + exp(-value)) for any value."""
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
