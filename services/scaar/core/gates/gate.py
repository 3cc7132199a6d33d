"""The interface of gates and routers, and their judgement of a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from scaar.core.types import Token


@dataclass(frozen=True, slots=True)
class GateJudgement:
    """The judgement of a question.

    ``probability`` is the probability, in [0, 1], that the answer needs retrieval. ``features`` are
    the values by which it was judged, by name. ``policy`` is a router's choice.
    """

    probability: float
    features: Mapping[str, float]
    policy: str | None = None


class QuestionGate(Protocol):
    """Decides once per answer how the question is answered, before the first sentence is accepted.

    From ``threshold`` on, the policy of the request answers; below it, the model alone. A router
    has no threshold: it names the policy that answers, one of its ``policies``, which runs with its
    defaults for the model. ``policies`` of a gate is empty. ``revision`` is a digest of the file.
    """

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    @property
    def threshold(self) -> float | None: ...

    @property
    def policies(self) -> tuple[str, ...]: ...

    @property
    def needs_draft(self) -> bool:
        """Whether the model drafts the first sentence for the judgement."""
        ...

    async def judge(self, question: str, draft: Sequence[Token]) -> GateJudgement:
        """Return the judgement of a question; ``draft`` is empty unless the gate needs one."""
        ...
