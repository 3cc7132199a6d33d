"""What an answer may spend, and what it has spent."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from scaar.core.errors import DeadlineExceeded
from scaar.core.types import BudgetLimits, Usage


class Budget:
    """Counts retrievals, model calls, tokens and time of one answer against its limits."""

    def __init__(self, limits: BudgetLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._began = clock()
        self._retrievals = 0
        self._llm_calls = 0
        self._prompt_tokens = 0
        self._generated_tokens = 0

    @property
    def tokens_left(self) -> int:
        return self._limits.max_tokens - self._generated_tokens

    @property
    def retrievals_left(self) -> int:
        return self._limits.max_retrievals - self._retrievals

    @property
    def seconds_left(self) -> float:
        return self._began + self._limits.timeout_s - self._clock()

    def count_retrieval(self) -> None:
        self._retrievals += 1

    def count_call(self, *, prompt_tokens: int, generated_tokens: int) -> None:
        self._llm_calls += 1
        self._prompt_tokens += prompt_tokens
        self._generated_tokens += generated_tokens

    def usage(self) -> Usage:
        """The bill so far."""
        return Usage(
            retrievals=self._retrievals,
            llm_calls=self._llm_calls,
            generated_tokens=self._generated_tokens,
            prompt_tokens=self._prompt_tokens,
            latency_ms=(self._clock() - self._began) * 1000,
        )

    @asynccontextmanager
    async def within(self, stage: str) -> AsyncIterator[None]:
        """Bounds the awaits of the block by the time that is left; nothing may be yielded in it.

        Raises:
            DeadlineExceeded: the time is used up; the message names the stage.
        """
        limit = asyncio.timeout(max(0.0, self.seconds_left))
        try:
            async with limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            given = self._limits.timeout_s
            raise DeadlineExceeded(
                f"the answer's time of {given:g} s was used up while {stage}", stage=stage
            ) from error
