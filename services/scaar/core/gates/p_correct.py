"""Calibrated P(correct): retrieval if the model's own answer is probably wrong.

A signal of the tokens of the model's answer without passages is mapped to the probability that the
answer is correct, by a curve fitted to labelled answers (arXiv 2606.29959):

    mean_surprisal    s = mean over t of ln p_t
    min_probability   s = min over t of ln p_t

    platt       P(correct) = sigmoid(a s + b)                        (Platt, 1999)
    isotonic    the non-decreasing step function of least squares    (Zadrozny and Elkan, 2002)

The judgement is 1 - P(correct).
"""

import enum
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.proxy import logistic
from scaar.core.text.words import surprisals_of
from scaar.core.types import Abstention, Capability, GenerateRequest, ModelDescription

THRESHOLD = 0.5
FEW = 1
"""The number of passages for a question of which the model is rather certain."""
Logprobs = Sequence[float | None]
"""The log-probabilities of the tokens of an answer; an unknown one is None."""


class AnswerSignal(enum.StrEnum):
    """The signal of an answer's tokens; it is at most 0, and higher for more certain answers."""

    MEAN_SURPRISAL = "mean_surprisal"
    MIN_PROBABILITY = "min_probability"

    def of(self, logprobs: Logprobs) -> float | None:
        """Return the signal; None without tokens, or if a log-probability is unknown."""
        known = surprisals_of(logprobs)
        if not known:
            return None
        if self is AnswerSignal.MIN_PROBABILITY:
            return -max(known)
        return -sum(known) / len(known)


@dataclass(frozen=True, slots=True)
class PlattCurve:
    """A logistic curve; its slope is at least 0."""

    slope: float
    intercept: float

    def probability(self, signal: float) -> float:
        """Return P(correct)."""
        return logistic(self.slope * signal + self.intercept)


@dataclass(frozen=True, slots=True)
class IsotonicCurve:
    """A step function: ``probabilities`` from each of the rising ``signals`` on.

    Below the first signal, the probability is the first one.
    """

    signals: tuple[float, ...]
    probabilities: tuple[float, ...]

    def probability(self, signal: float) -> float:
        """Return P(correct)."""
        return self.probabilities[max(0, bisect_right(self.signals, signal) - 1)]


Curve = PlattCurve | IsotonicCurve


@dataclass(frozen=True, slots=True)
class PCorrectGate:
    """The gate of a file. ``tokens`` is the maximum number of tokens of an answer.

    The ``threshold`` is that of 1 - P(correct). With P(correct) of at least ``few_above``, 1 is
    never, a retrieval has at most ``few`` passages. After a retrieval, an answer abstains if its
    P(correct) is below ``abstain_below``; 0 is never.
    """

    revision: str
    model: FittedModel
    signal: AnswerSignal
    curve: Curve
    threshold: float
    abstain_below: float
    tokens: int
    few_above: float = 1.0
    few: int = FEW

    name = "p_correct"
    policies = ()
    needs = frozenset({Capability.LOGPROBS})
    needs_draft = False

    def check_model(self, model: ModelDescription) -> None:
        """Raise CapabilityMissing if the model is not the one of the file."""
        self.model.check(self.name, model)

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return 1 - P(correct) of the answer without passages; the features are its parts.

        An answer without tokens, or with an unknown log-probability, needs retrieval.
        """
        request = GenerateRequest(model.prompt, max_tokens=self.tokens, stop=model.profile.stop)
        (answer,) = await model.write(request)
        logprobs = [token.logprob for token in answer.tokens]
        signal, p_correct = self.signal.of(logprobs), self.p_correct(logprobs)
        features = {"p_correct": p_correct, "tokens": float(len(logprobs))}
        if signal is not None:
            features["signal"] = signal
        top_k = self.few if self.few_above <= p_correct < 1 else None
        return GateJudgement(1 - p_correct, features, top_k=top_k)

    def p_correct(self, logprobs: Logprobs) -> float:
        """Return P(correct) of an answer; 0 if its signal is unknown."""
        signal = self.signal.of(logprobs)
        return 0.0 if signal is None else self.curve.probability(signal)

    def abstention(self, logprobs: Logprobs) -> Abstention | None:
        """Return the abstention of an answer that was written after a retrieval, if it abstains."""
        p_correct = self.p_correct(logprobs)
        if p_correct >= self.abstain_below:
            return None
        return Abstention(p_correct, self.abstain_below)
