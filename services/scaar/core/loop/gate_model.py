"""The model of an answer, as the gate of its question uses it."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from scaar.core.errors import StreamIncomplete
from scaar.core.gates.gate import Sample
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.budget import Part
from scaar.core.prompts import PromptProfile
from scaar.core.types import (
    Capability,
    GenerateRequest,
    GenerationEnd,
    GenerationStart,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
    Token,
)

_STAGE = "judging the question"


class AnswerModel:
    """A :class:`~scaar.core.gates.GateModel` within the budget of an answer."""

    def __init__(
        self, state: AnswerState, described: ModelDescription, draft: Sequence[Token]
    ) -> None:
        self._state = state
        self.description = described
        self.draft = draft
        """The tokens of the first sentence; empty unless the gate needs a draft."""

    @property
    def profile(self) -> PromptProfile:
        return self._state.profile

    @property
    def prompt(self) -> str:
        """The prompt of the question without passages."""
        return self.profile.render(self._state.request.question)

    async def write(self, request: GenerateRequest) -> tuple[Sample, ...]:
        """Return the samples of a request, which count as one call.

        Raises:
            DeadlineExceeded: the answer's time is used up.
            StreamIncomplete: the generator's stream ended before its last end.
        """
        if Capability.SEED not in self.description.capabilities:
            request = replace(request, seed=None)
        # An answer has at most one generation in flight.
        await self._state.writer.stop()
        samples = [list[Token]() for _ in range(request.n)]
        ends = list[GenerationEnd]()
        prompt_tokens = 0
        async with (
            self._state.budget.within(_STAGE, Part.GENERATION),
            aclosing(self._state.ports.generator.generate(request)) as events,
        ):
            async for event in events:
                match event:
                    case GenerationStart():
                        prompt_tokens = event.prompt_tokens
                    case Token():
                        samples[event.sample].append(event)
                    case GenerationEnd():
                        ends.append(event)
        if len(ends) < request.n:
            raise StreamIncomplete("the generator's stream ended before its last end")
        self._state.budget.count_call(
            prompt_tokens=ends[0].prompt_tokens or prompt_tokens or None,
            generated_tokens=sum(each.generated_tokens for each in ends),
            thinking_tokens=sum(each.thinking_tokens for each in ends),
            evaluated_tokens=ends[0].evaluated_tokens,
        )
        return tuple(map(_sample, samples, ends))

    async def read(self, request: LogprobsRequest) -> TextLogprobs:
        """Return the log-probabilities of a given text, which count as one call.

        Raises:
            DeadlineExceeded: the answer's time is used up.
        """
        return await self._state.read_text(request, _STAGE)


def _sample(tokens: Sequence[Token], end: GenerationEnd) -> Sample:
    state = end.hidden_state or (tokens[-1].hidden_state if tokens else ())
    return Sample(tuple(tokens), state)
