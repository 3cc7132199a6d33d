"""A probe of hidden states: retrieval if they predict that the model's own answer is wrong.

After Probing-RAG (Baek et al., Findings of NAACL 2025), whose prober reads hidden states of the
model's answer without passages. Here it is a logistic model of their mean at one layer:

    P(wrong) = sigmoid(b + w (h - mu) / sigma),    h = mean over t of h_t

h_t is the state at the layer with which the model predicted token t of the answer.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from statistics import fmean

from scaar.core.errors import CapabilityMissing
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.proxy import logistic
from scaar.core.types import Capability, GenerateRequest, ModelDescription, Token

THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class LinearProbe:
    """A logistic model of a hidden state: the scaler, the coefficients and the intercept."""

    means: tuple[float, ...]
    scales: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float

    @property
    def width(self) -> int:
        """The width of the hidden states."""
        return len(self.coefficients)

    def logit(self, state: Sequence[float]) -> float:
        """Return the logit of the probability of a state of this width."""
        scaled = ((x - m) / s for x, m, s in zip(state, self.means, self.scales, strict=True))
        return math.fsum((self.intercept, *map(mul, self.coefficients, scaled)))


@dataclass(frozen=True, slots=True)
class ProbeGate:
    """The gate of a file. ``tokens`` is the maximum number of tokens of an answer."""

    revision: str
    model: FittedModel
    layer: int
    probe: LinearProbe
    threshold: float
    tokens: int

    name = "probe"
    policies = ()
    needs = frozenset({Capability.HIDDEN_STATES})
    needs_draft = False

    def check_model(self, model: ModelDescription) -> None:
        """Raise CapabilityMissing if the model is not the one of the file, or lacks the layer."""
        self.model.check(self.name, model)
        layers = model.hidden_layers
        if layers is not None and self.layer > layers:
            raise CapabilityMissing(
                f"gate {self.name} reads layer {self.layer}, and model {model.model} has {layers}: "
                "fit the gate to that model",
                missing="gate_file",
            )

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the probability that the answer without passages is wrong.

        The features are its logit and the number of tokens of the answer. A question without an
        answer needs retrieval.

        Raises:
            CapabilityMissing: the hidden states have another width.
        """
        request = GenerateRequest(
            model.prompt,
            max_tokens=self.tokens,
            stop=model.profile.stop,
            hidden_layer=self.layer,
        )
        (answer,) = await model.write(request)
        if not answer.tokens:
            return GateJudgement(1.0, {"tokens": 0.0})
        # Wide states of long answers take too long for the event loop.
        state = await asyncio.to_thread(mean_state, answer.tokens)
        if len(state) != self.probe.width:
            raise CapabilityMissing(
                f"gate {self.name} reads hidden states of width {self.probe.width}, and those of "
                f"layer {self.layer} have width {len(state)}: fit the gate to this model",
                missing="gate_file",
            )
        logit = self.probe.logit(state)
        return GateJudgement(logistic(logit), {"logit": logit, "tokens": float(len(answer.tokens))})


def mean_state(tokens: Sequence[Token]) -> tuple[float, ...]:
    """Return the mean hidden state of the tokens, of which there is at least one.

    It is empty if a state is missing, or if states have different widths.
    """
    states = [token.hidden_state for token in tokens]
    if len({len(each) for each in states}) > 1:
        return ()
    return tuple(map(fmean, zip(*states, strict=True)))
