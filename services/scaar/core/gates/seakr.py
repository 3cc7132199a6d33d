"""SeaKR: retrieval if the hidden states at the end of sampled answers spread widely.

    U = (1 / k) ln det(Z J Z^T + alpha I),    J = I - (1 / d) 1 1^T

Z [k, d] has the hidden state, at one layer, with which the model predicted the last token of each
of k sampled answers without passages; J subtracts the mean of each state. U is at least ln alpha,
and the judgement is 1 - exp(ln alpha - U), which is in [0, 1] and in the same order.

Yao et al., ACL 2025 (SeaKR), Eq. 1 to 3, with the numbers of the authors' code; the score is
EigenScore of Chen et al., ICLR 2024 (INSIDE).
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import mul

from scaar.core.errors import CapabilityMissing
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.gate_json import GateDocument
from scaar.core.types import Capability, GenerateRequest, ModelDescription

SAMPLES, TEMPERATURE, TOKENS, ALPHA = 20, 1.0, 100, 1e-3
"""The defaults of the authors' code."""
THRESHOLD = -math.expm1(math.log(ALPHA) + 6)
"""The judgement at the threshold of the authors' code for Llama-2-7B, U = -6."""


@dataclass(frozen=True, slots=True)
class SeakrGate:
    """The gate. ``answers`` is the request of the samples without prompt and layer.

    ``layer`` is the layer of the states; the middle one of the model if it is None.
    """

    revision: str
    threshold: float
    answers: GenerateRequest
    layer: int | None
    alpha: float

    name = "seakr"
    policies = ()
    needs = frozenset({Capability.SAMPLING, Capability.HIDDEN_STATES})
    needs_draft = False

    def check_model(self, model: ModelDescription) -> None:
        """Raise CapabilityMissing if the model has no such layer."""
        layers = model.hidden_layers
        if self.layer is not None and layers is not None and self.layer > layers:
            raise CapabilityMissing(
                f"gate {self.name} reads layer {self.layer}, and model {model.model} has {layers}: "
                "set another layer in the gate's file",
                missing="gate_file",
            )

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the judgement; the features are U and the number of answers that are not empty.

        With less than two such answers the question needs retrieval.
        """
        middle = (model.description.hidden_layers or 0) // 2
        layer = middle if self.layer is None else self.layer
        request = replace(
            self.answers, prompt=model.prompt, stop=model.profile.stop, hidden_layer=layer
        )
        written = [each for each in await model.write(request) if each.text.strip()]
        answers = float(len(written))
        if answers < 2:
            return GateJudgement(1.0, {"answers": answers})
        # Products of many wide states take too long for the event loop.
        states = [each.end_state for each in written]
        value = await asyncio.to_thread(eigenscore, states, self.alpha)
        judgement = max(0.0, -math.expm1(math.log(self.alpha) - value))
        return GateJudgement(judgement, {"uncertainty": value, "answers": answers})


def read_seakr(document: GateDocument) -> SeakrGate:
    """Return the gate of a document, whose fields are all optional.

    Raises:
        DataCorrupt: a field is wrong; names it.
    """
    fields = document.fields
    tokens = fields.whole("tokens", 1, 256, TOKENS)
    layer = fields.whole("layer", 0, 1000) if "layer" in fields.fields else None
    return SeakrGate(
        document.revision,
        fields.share("threshold", THRESHOLD),
        document.sampled(SAMPLES, TEMPERATURE, max_tokens=tokens),
        layer,
        fields.limited("alpha", 1e-9, 1, ALPHA),
    )


def eigenscore(states: Sequence[Sequence[float]], alpha: float) -> float:
    """Return U of hidden states of equal width: the mean log eigenvalue of their Gram matrix."""
    centred = [_centred(each) for each in states]
    gram = [[sum(map(mul, one, other)) for other in centred] for one in centred]
    for number, row in enumerate(gram):
        row[number] += alpha
    return _log_determinant(gram) / len(states)


def _centred(state: Sequence[float]) -> list[float]:
    mean = math.fsum(state) / len(state)
    return [value - mean for value in state]


def _log_determinant(matrix: Sequence[Sequence[float]]) -> float:
    """Return ln det of a symmetric positive definite matrix, by its Cholesky factor."""
    factor = list[list[float]]()
    total = 0.0
    for number, row in enumerate(matrix):
        new = list[float]()
        for column in range(number):
            known = sum(map(mul, new, factor[column]))
            new.append((row[column] - known) / factor[column][column])
        # Rounding may reach 0 for states that are equal up to the last digit.
        square = max(row[number] - sum(map(mul, new, new)), math.ulp(row[number]))
        total += math.log(square)
        factor.append([*new, math.sqrt(square)])
    return total
