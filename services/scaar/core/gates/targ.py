"""TARG: retrieval if a short draft without passages is uncertain (Wang et al., arXiv 2511.09803).

The model drafts k tokens from the question alone. The uncertainty U is the mean over the tokens of

    targ_entropy   the entropy of the next token, in nats                               (Eq. 1)
    targ           exp(-g / beta), where g is the gap between the two largest logits    (Eq. 2)
    targ_variance  1 - the share of the most frequent token among N sampled drafts      (Eq. 3)

and the policy may retrieve if U > tau (Eq. 4). The judgement is U; for entropies, which have no
upper limit, it is 1 - exp(-U), which keeps their order.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from statistics import fmean

from scaar.core.evidence.evidence import margin
from scaar.core.gates.gate import GateJudgement, GateModel, Sample
from scaar.core.gates.gate_json import GateDocument
from scaar.core.types import Capability, GenerateRequest, Token

TOKENS, BETA, SAMPLES, TEMPERATURE = 20, 1.0, 3, 0.7
"""The paper's defaults of k, beta, N and the temperature of the samples."""
MARGIN, ENTROPY, VARIANCE = 0.2, 1 - math.exp(-0.85), 0.4
"""The default thresholds: the paper's for Qwen2.5-7B on NQ-Open, of the variance on PopQA."""


@dataclass(frozen=True, slots=True)
class TargGate:
    """TARG with one of its uncertainties.

    ``drafts`` is the request of the drafts without their prompt. ``uncertainty`` is U of the
    drafts, ``judgement`` its value in [0, 1].
    """

    name: str
    revision: str
    threshold: float
    needs: frozenset[Capability]
    drafts: GenerateRequest
    uncertainty: Callable[[Sequence[Sample]], float]
    judgement: Callable[[float], float] = float

    policies = ()
    needs_draft = False

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the judgement; the features are U and the number of drafted tokens.

        A question without a drafted token needs retrieval.
        """
        request = replace(self.drafts, prompt=model.prompt, stop=model.profile.stop)
        drafts = await model.write(request)
        tokens = float(sum(len(each.tokens) for each in drafts))
        if not tokens:
            return GateJudgement(1.0, {"tokens": tokens})
        value = self.uncertainty(drafts)
        return GateJudgement(self.judgement(value), {"uncertainty": value, "tokens": tokens})


def read_margin(document: GateDocument) -> TargGate:
    """Return ``targ`` of a document, whose fields are all optional.

    Raises:
        DataCorrupt: a field is wrong; names it.
    """
    beta = document.fields.limited("beta", 0.01, 100, BETA)
    return TargGate(
        "targ",
        document.revision,
        document.fields.share("threshold", MARGIN),
        frozenset({Capability.LOGPROBS}),
        GenerateRequest("", max_tokens=_tokens(document), top_tokens=2),
        partial(mean_link, beta=beta),
    )


def read_entropy(document: GateDocument) -> TargGate:
    """Return ``targ_entropy`` of a document, as :func:`read_margin`."""
    return TargGate(
        "targ_entropy",
        document.revision,
        document.fields.share("threshold", ENTROPY),
        frozenset({Capability.ENTROPY}),
        GenerateRequest("", max_tokens=_tokens(document)),
        mean_entropy,
        bounded,
    )


def read_variance(document: GateDocument) -> TargGate:
    """Return ``targ_variance`` of a document, as :func:`read_margin`."""
    return TargGate(
        "targ_variance",
        document.revision,
        document.fields.share("threshold", VARIANCE),
        frozenset({Capability.SAMPLING}),
        document.sampled(SAMPLES, TEMPERATURE, max_tokens=_tokens(document)),
        disagreement,
    )


def mean_link(drafts: Sequence[Sample], beta: float) -> float:
    """Return the mean of exp(-gap / beta) of the draft; an unknown gap counts as 0."""
    gaps = map(margin, drafts[0].tokens)
    return fmean(math.exp(-(gap or 0.0) / beta) for gap in gaps)


def mean_entropy(drafts: Sequence[Sample]) -> float:
    """Return the mean entropy of the draft, in nats; infinite if one is unknown."""
    return fmean(math.inf if each.entropy is None else each.entropy for each in drafts[0].tokens)


def disagreement(drafts: Sequence[Sample]) -> float:
    """Return the mean share of the drafts whose token is not the most frequent one.

    The mean is over the positions of the longest draft; the end of a draft counts as a token.
    """
    positions = zip_longest(*(map(_identity, each.tokens) for each in drafts))
    return fmean(1 - Counter(each).most_common(1)[0][1] / len(drafts) for each in positions)


def bounded(nats: float) -> float:
    """Return 1 - exp(-nats): a number in [0, 1] in the same order."""
    return -math.expm1(-nats)


def _tokens(document: GateDocument) -> int:
    return document.fields.whole("tokens", 1, 256, TOKENS)


def _identity(token: Token) -> tuple[int, str]:
    return token.id, token.text
