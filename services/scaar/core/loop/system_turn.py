"""Text of the system in a turn of its own, for models that have one."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEvent,
    LogprobsRequest,
    TextLogprobs,
)
from scaar.core.wrapped_generator import WrappedGenerator

_Request = TypeVar("_Request", GenerateRequest, LogprobsRequest, AttendRequest)


class SystemTurnGenerator(WrappedGenerator):
    """A generator whose requests have the text of the system apart from the prompt.

    ``opening`` is the start of the prompts that the text belongs to, the text itself with what
    separates it from the prompt. Other prompts, such as that which rewrites a question, have none.
    """

    def __init__(self, generator: Generator, system: str, *, opening: str) -> None:
        super().__init__(generator)
        self._system = system
        self._opening = opening

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        async with aclosing(self._generator.generate(self._apart(request))) as events:
            async for event in events:
                yield event

    async def attend(self, request: AttendRequest) -> Attention:
        return await self._generator.attend(self._apart(request))

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        return await self._generator.compute_logprobs(self._apart(request))

    def _apart(self, request: _Request) -> _Request:
        if not request.prompt.startswith(self._opening):
            return request
        prompt = request.prompt.removeprefix(self._opening)
        return replace(request, prompt=prompt, system=self._system)
