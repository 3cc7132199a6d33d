"""Several samples of one request, one generation after another."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from scaar.core.types import (
    GenerateRequest,
    GenerationEvent,
    GenerationProgress,
    GenerationStart,
)


async def each_sample(
    request: GenerateRequest,
    generate: Callable[[GenerateRequest], AsyncGenerator[GenerationEvent, None]],
) -> AsyncGenerator[GenerationEvent, None]:
    """Yield the events of every sample, with its number; ``generate`` generates a single one.

    Sample i is the single sample of the request with ``seed + i``. All have the same prompt, so
    only the first yields its reading.
    """
    for sample in range(request.n):
        seed = None if request.seed is None else request.seed + sample
        async with aclosing(generate(replace(request, n=1, seed=seed))) as events:
            async for event in events:
                if not sample:
                    yield event
                elif not isinstance(event, GenerationStart | GenerationProgress):
                    yield replace(event, sample=sample)
