"""Adaptive-RAG (Jeong et al., NAACL 2024, section 3): routes a question to a policy by its words.

The policies are ordered from the simplest to the most complex. Each but the last has a logistic
model of the probability that it suffices, given that no simpler one does:

    p_k = 1 / (1 + exp(-(bias_k + sum of weights_k * features)))
    share_k = p_k * product of (1 - p_j) for the simpler policies j

The last policy has the remaining share, and the policy with the largest share answers. The paper
fine-tunes T5-large on the same labels instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.errors import DataCorrupt
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.gate_json import GateDocument, JsonFields, gate_content
from scaar.core.gates.proxy import logistic
from scaar.core.gates.word_statistics import words_counted
from scaar.core.types import Capability

NAME = "adaptive_rag"
_WITHOUT_RETRIEVAL = "no_retrieval"


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """The logistic model of whether a policy suffices; a feature without a weight has no effect."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability that the policy suffices if no simpler one does."""
        known = (self.weights.get(name, 0.0) * value for name, value in features.items())
        return logistic(self.bias + sum(known))


@dataclass(frozen=True, slots=True)
class AdaptiveRag:
    """The router. ``sufficiencies`` are those of all ``policies`` but the last, in their order.

    ``model`` is the language model whose answers labelled the questions, ``revision`` a digest of
    the file.
    """

    model: str
    revision: str
    policies: tuple[str, ...]
    sufficiencies: tuple[Sufficiency, ...]

    name = NAME
    threshold = None
    needs = frozenset[Capability]()
    needs_draft = False

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the chosen policy; the features are the shares of the policies by name."""
        shares = self.shares(question)
        needing = 1 - shares.get(_WITHOUT_RETRIEVAL, 0.0)
        return GateJudgement(needing, shares, self.choice(shares))

    @staticmethod
    def choice(shares: Mapping[str, float]) -> str:
        """Return the policy with the largest share, the simplest of equal ones."""
        return max(shares, key=shares.__getitem__)

    def shares(self, question: str) -> Mapping[str, float]:
        """Return the probability of each policy to be the simplest that suffices."""
        features, left, found = question_features(question), 1.0, dict[str, float]()
        for policy, sufficiency in zip(self.policies, self.sufficiencies, strict=False):
            found[policy] = left * sufficiency.probability(features)
            left -= found[policy]
        return {**found, self.policies[-1]: left}


def question_features(question: str) -> Mapping[str, float]:
    """Return the features of a question by name.

    They are the numbers of its words, of its capitalised words after the first and of its words
    with a digit, and 1 for each word that it has, in lower case.
    """
    words, written = words_counted(question), question.split()
    counts = {
        "words": len(words),
        "capitalised": sum(each[:1].isupper() for each in written[1:]),
        "numbers": sum(any(map(str.isdigit, each)) for each in words),
    }
    return {**counts, **{f"word {each}": 1.0 for each in words}}


def adaptive_rag_to_json(router: AdaptiveRag, *, learned_from: Mapping[str, object]) -> bytes:
    """Return the content of a router's file; ``learned_from`` is informative only."""
    return gate_content(
        NAME,
        {
            "model": router.model,
            "learned_from": dict(learned_from),
            "policies": list(router.policies),
            "sufficiencies": [
                {"bias": each.bias, "weights": dict(each.weights)} for each in router.sufficiencies
            ],
        },
    )


def read_adaptive_rag(document: GateDocument) -> AdaptiveRag:
    """Return the router of a document.

    Raises:
        DataCorrupt: a field is missing or wrong; names it.
    """
    fields, where = document.fields, document.where
    policies = fields.texts("policies")
    if len(policies) < 2 or len(set(policies)) < len(policies):
        raise DataCorrupt(f"{where}: policies must be at least two, each named once")
    sufficiencies = fields.objects("sufficiencies")
    if len(sufficiencies) != len(policies) - 1:
        text = f"sufficiencies must be one fewer than the policies, not {len(sufficiencies)}"
        raise DataCorrupt(f"{where}: {text}")
    return AdaptiveRag(
        fields.text("model"), document.revision, policies, tuple(map(_sufficiency, sufficiencies))
    )


def _sufficiency(fields: JsonFields) -> Sufficiency:
    weights = fields.object("weights")
    return Sufficiency(
        fields.number("bias"), {name: weights.number(name) for name in weights.fields}
    )
