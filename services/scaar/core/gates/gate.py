"""The interface of gates and routers, and their judgement of a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from scaar.core.prompts import PromptProfile
from scaar.core.types import (
    Abstention,
    Capability,
    GenerateRequest,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
    Token,
)


@dataclass(frozen=True, slots=True)
class GateJudgement:
    """The judgement of a question.

    ``probability`` is how much the answer needs retrieval, in [0, 1]: a probability, or another
    score of the gate. ``features`` are the values by which it was judged, by name. ``policy`` is a
    router's choice. ``top_k`` is the maximum number of passages of a retrieval; None leaves it to
    the policy.
    """

    probability: float
    features: Mapping[str, float]
    policy: str | None = None
    top_k: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """A text that the model has written for a gate.

    ``end_state`` is the hidden state with which the model predicted its last token, which is the
    end of the text unless a limit or a stop string ended it; empty unless a layer was requested.
    """

    tokens: tuple[Token, ...]
    end_state: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


class GateModel(Protocol):
    """The model of an answer, as the gate of the question can use it.

    What it writes and reads counts as usage of the answer, but not against ``max_tokens``, and
    ends with the answer's deadline. Each method raises the errors of the generator.
    """

    @property
    def description(self) -> ModelDescription: ...

    @property
    def profile(self) -> PromptProfile: ...

    @property
    def prompt(self) -> str:
        """The prompt of the question without passages."""
        ...

    @property
    def draft(self) -> Sequence[Token]:
        """The tokens of the first sentence; empty unless the gate needs a draft."""
        ...

    async def write(self, request: GenerateRequest) -> tuple[Sample, ...]:
        """Return the samples of a request. Its seed has no effect on a model without seeds."""
        ...

    async def read(self, request: LogprobsRequest) -> TextLogprobs:
        """Return the log-probabilities of a given text."""
        ...


class QuestionGate(Protocol):
    """Decides once per answer how the question is answered, before the first sentence is accepted.

    From ``threshold`` on, the policy of the request answers; below it, the model alone. A router
    has no threshold: it names the policy that answers, one of its ``policies``, which runs with its
    defaults for the model. ``policies`` of a gate is empty. ``revision`` is a digest of the file,
    empty without one. ``needs`` are capabilities that the model must have.
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
    def needs(self) -> frozenset[Capability]: ...

    @property
    def needs_draft(self) -> bool:
        """Whether the model drafts the first sentence for the judgement."""
        ...

    async def judge(self, question: str, model: GateModel) -> GateJudgement:
        """Return the judgement of a question."""
        ...


@runtime_checkable
class ModelSpecificGate(Protocol):
    """A gate whose file was fitted to one model, and judges only that model's answers."""

    def check_model(self, model: ModelDescription) -> None:
        """Raise CapabilityMissing, before any work, if the model is not the one of the file."""
        ...


@runtime_checkable
class AbstainingGate(Protocol):
    """A gate that also judges the answer that was written after a retrieval."""

    def abstention(self, logprobs: Sequence[float | None]) -> Abstention | None:
        """Return why the answer should not be given, from its tokens; None if it should."""
        ...
