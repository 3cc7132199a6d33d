"""A generator of one answer, for engines that lease a slot to each answer."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace

from scaar.core.errors import ScaarError
from scaar.core.loop.budget import deadline_in
from scaar.core.ports import Generator
from scaar.core.types import Capability, GenerateRequest, GenerationEvent, ModelDescription
from scaar.core.wrapped_generator import WrappedGenerator

_RELEASE_S = 2.0
"""Maximum time to release an answer, in seconds; the engine frees an idle slot by itself."""


@asynccontextmanager
async def open_answer_generator(
    generator: Generator, model: ModelDescription, answer_id: str
) -> AsyncIterator[Generator]:
    """Yield the generator of an answer's calls, and release the answer after the block.

    An engine without :attr:`~scaar.core.types.Capability.ANSWER_SLOTS` is called as it is.
    """
    if Capability.ANSWER_SLOTS not in model.capabilities:
        yield generator
        return
    try:
        yield _AnswerGenerator(generator, answer_id)
    finally:
        # A slot that cannot be released must not fail the answer.
        with suppress(ScaarError), deadline_in(_RELEASE_S):
            await generator.release_answer(answer_id)


class _AnswerGenerator(WrappedGenerator):
    """A generator whose greedy generations belong to an answer.

    Samples belong to none: they do not continue one another, so they need no slot.
    """

    def __init__(self, generator: Generator, answer_id: str) -> None:
        super().__init__(generator)
        self._answer_id = answer_id

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        if not request.temperature:
            request = replace(request, answer_id=self._answer_id)
        async with aclosing(self._generator.generate(request)) as events:
            async for event in events:
                yield event
