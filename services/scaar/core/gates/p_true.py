"""P(True): retrieval if the model does not find its own answer true.

Kadavath et al., "Language Models (Mostly) Know What They Know", arXiv 2207.05221, section 4.1. The
model answers without passages, and is asked whether this answer is (A) true or (B) false:

    P(True) = p(" (A)") / (p(" (A)") + p(" (B)"))

The judgement is 1 - P(True).
"""

import math
from dataclasses import dataclass

from scaar.core.gates.closed_book import TOKENS, about, closed_book
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.gate_json import GateDocument
from scaar.core.gates.proxy import logistic
from scaar.core.text.words import surprisals
from scaar.core.types import Capability, LogprobsRequest

THRESHOLD = 0.5
_TRUE, _FALSE = " (A)", " (B)"


@dataclass(frozen=True, slots=True)
class PTrue:
    """The gate. ``tokens`` is the maximum number of tokens of an answer."""

    revision: str
    threshold: float
    tokens: int

    name = "p_true"
    policies = ()
    needs = frozenset({Capability.TEXT_LOGPROBS})
    needs_draft = False

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return 1 - P(True); the features are P(True) and the probability of both options.

        If both options have the probability 0, the question needs retrieval.
        """
        answer = await closed_book(model, max_tokens=self.tokens)
        prompt = about(
            question,
            answer,
            "Is the proposed answer:",
            " (A) True",
            " (B) False",
            "The proposed answer is:",
        )
        true, false = [await _logprob(model, prompt, each) for each in (_TRUE, _FALSE)]
        p_true = logistic(true - false) if max(true, false) > -math.inf else 0.0
        features = {"p_true": p_true, "p_options": math.exp(true) + math.exp(false)}
        return GateJudgement(1 - p_true, features)


def read_p_true(document: GateDocument) -> PTrue:
    """Return the gate of a document, whose fields are all optional.

    Raises:
        DataCorrupt: a field is wrong; names it.
    """
    return PTrue(
        document.revision,
        document.fields.share("threshold", THRESHOLD),
        document.fields.whole("tokens", 1, 256, TOKENS),
    )


async def _logprob(model: GateModel, prompt: str, text: str) -> float:
    """Return the log-probability of a text; -inf if that of a token is unknown."""
    read = await model.read(LogprobsRequest(prompt, text))
    known = surprisals(read.tokens)
    return -math.inf if known is None else -math.fsum(known)
