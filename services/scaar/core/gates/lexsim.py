"""Lexical similarity: retrieval if sampled answers without passages disagree.

    U = 1 - the mean of ROUGE-L over all pairs of N sampled answers

As LM-Polygraph's ``LexicalSimilarity`` (Fadeeva et al., EMNLP 2023 demonstrations; after Kuhn et
al., ICLR 2023) and AdaRAGUE (Moskvoretskii et al., ACL 2025) use it. ROUGE-L is the harmonic mean
of precision and recall of the longest common subsequence of words (Lin, 2004).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from scaar.core.gates.closed_book import TOKENS, conclusion
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.gate_json import GateDocument
from scaar.core.gates.word_statistics import words_counted
from scaar.core.types import Capability, GenerateRequest

SAMPLES, TEMPERATURE, THRESHOLD = 10, 1.0, 0.5


@dataclass(frozen=True, slots=True)
class LexicalSimilarity:
    """The gate. ``answers`` is the request of the sampled answers without their prompt."""

    revision: str
    threshold: float
    answers: GenerateRequest

    name = "lexsim"
    policies = ()
    needs = frozenset({Capability.SAMPLING})
    needs_draft = False

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the disagreement; the features are the similarity and the number of answers."""
        request = replace(self.answers, prompt=model.prompt, stop=model.profile.stop)
        answers = [conclusion(model.profile, each) for each in await model.write(request)]
        texts = [words_counted(each) for each in answers]
        # Long answers without a conclusion take too long for the event loop.
        similarity = await asyncio.to_thread(mean_similarity, texts)
        features = {"similarity": similarity, "answers": float(len(set(answers)))}
        return GateJudgement(1 - similarity, features)


def read_lexsim(document: GateDocument) -> LexicalSimilarity:
    """Return the gate of a document, whose fields are all optional.

    Raises:
        DataCorrupt: a field is wrong; names it.
    """
    tokens = document.fields.whole("tokens", 1, 256, TOKENS)
    return LexicalSimilarity(
        document.revision,
        document.fields.share("threshold", THRESHOLD),
        document.sampled(SAMPLES, TEMPERATURE, max_tokens=tokens),
    )


def mean_similarity(texts: Sequence[Sequence[str]]) -> float:
    """Return the mean ROUGE-L of all pairs of texts."""
    return fmean(rouge_l(one, other) for one, other in combinations(texts, 2))


def rouge_l(one: Sequence[str], other: Sequence[str]) -> float:
    """Return ROUGE-L of two texts in words; 0 if one has none."""
    if not one or not other:
        return 0.0
    return 2 * common_length(one, other) / (len(one) + len(other))


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    lengths = [0] * (len(other) + 1)
    for word in one:
        above = 0
        for at, each in enumerate(other, 1):
            above, lengths[at] = (
                lengths[at],
                above + 1 if word == each else max(lengths[at], lengths[at - 1]),
            )
    return lengths[-1]
