"""Generator with a minimum time between tokens, to simulate a larger model."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, GenerationEvent, Token
from scaar.core.wrapped_generator import WrappedGenerator


class PacedGenerator(WrappedGenerator):
    """A generator whose tokens are at least ``interval_s`` apart.

    The interval applies to each generation separately. While a generation waits, the wrapped
    generator computes nothing for it.
    """

    def __init__(
        self,
        generator: Generator,
        interval_s: float,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(generator)
        self._interval_s = interval_s
        self._now = now
        self._sleep = sleep

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the events of the wrapped generator, with delayed tokens."""
        due = None
        async with aclosing(self._generator.generate(request)) as events:
            async for event in events:
                if isinstance(event, Token):
                    while due is not None and (left := due - self._now()) > 0:
                        await self._sleep(left)
                    due = self._now() + self._interval_s
                yield event
