"""QuCo-RAG's check of the question: retrieval if its entities are rare in a corpus.

Min et al., arXiv 2512.19134. The judgement is 1 / (1 + m), where m is the mean number of
occurrences of the question's entities (:mod:`scaar.core.text.entities`). Retrieval is needed if m
is below ``min_count``. A question without entities has the judgement 0, as in the authors' code.
"""

import asyncio
import math
from dataclasses import dataclass
from statistics import fmean

from scaar.core.errors import CapabilityMissing
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.gates.gate_json import GateDocument
from scaar.core.ports import CorpusCounts
from scaar.core.text import word_classes
from scaar.core.text.entities import question_entities
from scaar.core.types import Capability

NAME = "quco"
MIN_COUNT = 1_000
"""The threshold of the authors' configurations of OLMo 2 and Llama 3."""


@dataclass(frozen=True, slots=True)
class QucoGate:
    """The gate. ``counts`` is None until the loop adds those of its corpus."""

    revision: str
    min_count: int
    counts: CorpusCounts | None = None

    name = NAME
    policies = ()
    needs = frozenset[Capability]()
    needs_draft = False

    @property
    def threshold(self) -> float:
        """The judgement from which the mean is below ``min_count``."""
        return math.nextafter(rarity(self.min_count), 1.0)

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the rarity; the features are the number of entities and their mean count.

        Raises:
            CapabilityMissing: there are no corpus counts.
        """
        if self.counts is None:
            raise CapabilityMissing(
                "the gate quco needs corpus counts", missing="corpus_counts_file"
            )
        await asyncio.to_thread(word_classes.load)
        entities = question_entities(question)
        if not entities:
            return GateJudgement(0.0, {"entities": 0.0})
        mean = fmean(await self.counts.count(entities))
        return GateJudgement(rarity(mean), {"entities": float(len(entities)), "mean_count": mean})


def rarity(mean: float) -> float:
    """Return the judgement of a question whose entities have this mean count."""
    return 1.0 / (1.0 + mean)


def read_quco(document: GateDocument) -> QucoGate:
    """Return the gate of a document, whose fields are all optional.

    Raises:
        DataCorrupt: a field is wrong; names it.
    """
    return QucoGate(document.revision, document.fields.whole("min_count", 1, 10**9, MIN_COUNT))
