"""A generator over another one, for classes that change some of its calls."""

from collections.abc import AsyncGenerator

from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEvent,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
)


class WrappedGenerator:
    """A :class:`~scaar.core.ports.Generator` whose calls are those of ``generator``."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        return self._generator.generate(request)

    async def attend(self, request: AttendRequest) -> Attention:
        return await self._generator.attend(request)

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        return await self._generator.compute_logprobs(request)

    async def release_answer(self, answer_id: str) -> None:
        await self._generator.release_answer(answer_id)

    async def describe_model(self) -> ModelDescription:
        return await self._generator.describe_model()
