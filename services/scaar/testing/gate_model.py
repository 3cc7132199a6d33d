"""Fake of the model that a gate uses: it follows a script, and records the requests."""

from collections.abc import Callable, Mapping, Sequence

from scaar.core.gates.gate import Sample
from scaar.core.prompts import PromptProfile, profile_of
from scaar.core.types import (
    GenerateRequest,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
    Token,
)
from scaar.testing.fakes import WHITE_BOX_MODEL


class ScriptedGateModel:
    """A model that writes ``samples`` of a request, and reads texts of ``logprobs``.

    A text without an entry cannot be read.
    """

    def __init__(
        self,
        samples: Callable[[GenerateRequest], Sequence[Sequence[Token]]] | None = None,
        logprobs: Mapping[str, float | None] | None = None,
        description: ModelDescription = WHITE_BOX_MODEL,
    ) -> None:
        self._samples = samples
        self._logprobs = logprobs or {}
        self.description = description
        self.draft: Sequence[Token] = ()
        self.written: list[GenerateRequest] = []
        self.texts: list[LogprobsRequest] = []

    @property
    def profile(self) -> PromptProfile:
        return profile_of("lab")

    @property
    def prompt(self) -> str:
        return self.profile.render("Who?")

    async def write(self, request: GenerateRequest) -> tuple[Sample, ...]:
        assert self._samples is not None, "the gate must not write"
        self.written.append(request)
        return tuple(
            Sample(tuple(each), each[-1].hidden_state if each else ())
            for each in self._samples(request)
        )

    async def read(self, request: LogprobsRequest) -> TextLogprobs:
        self.texts.append(request)
        logprob = self._logprobs[request.text]
        return TextLogprobs((Token(0, request.text, 0, len(request.text), logprob),), 1)


NO_MODEL = ScriptedGateModel()
"""A model that the gate must not use."""
