"""SKR: retrieval for questions whose nearest labelled questions it helped rather than harmed.

Wang et al., "Self-Knowledge Guided Retrieval Augmentation for Large Language Models", Findings of
EMNLP 2023, the variant with nearest neighbours, by the rule of its authors' code (THUNLP-MT/SKR,
source/knn.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from scaar.core.errors import CapabilityMissing
from scaar.core.gates.gate import GateJudgement, GateModel
from scaar.core.types import Capability

NEIGHBOURS = 5
"""The default number of neighbours; the authors' code tries 5 to 10."""
SHARE_HELPED = "share_helped"
"""The feature of a judgement: the share of the nearest questions that retrieval helped."""


class NearestQuestions(Protocol):
    """Finds the labelled questions that are nearest to a question."""

    async def nearest(self, question: str, count: int) -> Sequence[int]:
        """Return the positions of the nearest labelled questions, the nearest first."""
        ...


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """Vectors of questions by a sentence encoder: float32, little-endian, one row per question."""

    encoder: str
    encoder_revision: str
    width: int
    data: bytes


@dataclass(frozen=True, slots=True)
class SkrGate:
    """Votes of the ``neighbours`` nearest labelled questions.

    ``helped`` has a value for each labelled question: whether the answer with retrieval was better
    than the answer without, or worse. Questions with equally good answers are not among them;
    ``unchanged`` is their number. ``nearest`` is None until an encoder is open.
    """

    revision: str
    helped: tuple[bool, ...]
    unchanged: int
    neighbours: int
    vectors: QuestionVectors
    nearest: NearestQuestions | None = None

    name = "skr"
    policies = ()
    needs = frozenset[Capability]()
    needs_draft = False

    @property
    def threshold(self) -> float:
        """The share of helped questions from which the vote is for retrieval."""
        helped = sum(self.helped)
        return vote_threshold(
            helped, len(self.helped) - helped, self.unchanged, neighbours=self.neighbours
        )

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the share of the nearest questions that retrieval helped.

        Raises:
            CapabilityMissing: no encoder is open.
        """
        if self.nearest is None:
            raise CapabilityMissing("the gate skr needs its sentence encoder", missing="gate_file")
        found = await self.nearest.nearest(question, self.neighbours)
        share = sum(self.helped[each] for each in found) / self.neighbours
        return GateJudgement(share, {SHARE_HELPED: share})


def vote_threshold(helped: int, harmed: int, unchanged: int, *, neighbours: int) -> float:
    """Return the share of helped questions among the neighbours from which retrieval is chosen.

    The more frequent label of all labelled questions is chosen if it leads among the neighbours,
    and by at least int(abs(helped - harmed) * neighbours / n), where n includes the unchanged
    questions; otherwise the other label is chosen.
    """
    margin = int(abs(helped - harmed) * neighbours / (helped + harmed + unchanged))
    lead = max(1, margin)
    if helped >= harmed:
        return (neighbours + lead) / (2 * neighbours)
    return (neighbours - lead + 1) / (2 * neighbours)
