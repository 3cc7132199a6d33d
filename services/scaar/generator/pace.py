"""A generator slowed to a pace, so that it stands for a larger model."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEvent,
    ModelDescription,
    Token,
)


class PacedGenerator:
    """Another generator, no token of it sooner than ``interval_s`` after the one before.

    Every generation has the pace to itself. The waiting is on the event loop and ends with the
    task that waits, and the generator below computes nothing meanwhile.
    """

    def __init__(
        self,
        generator: Generator,
        interval_s: float,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._generator = generator
        self._interval_s = interval_s
        self._now = now
        self._sleep = sleep

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """The events of the generator below, each token when its time has come."""
        due = None
        async with aclosing(self._generator.generate(request)) as events:
            async for event in events:
                if isinstance(event, Token):
                    while due is not None and (left := due - self._now()) > 0:
                        await self._sleep(left)
                    due = self._now() + self._interval_s
                yield event

    async def attend(self, request: AttendRequest) -> Attention:
        return await self._generator.attend(request)

    async def describe_model(self) -> ModelDescription:
        return await self._generator.describe_model()
