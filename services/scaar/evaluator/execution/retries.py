"""Retries of an answerer that is overloaded or unavailable, without adding to its load."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from scaar.core.errors import BackendUnavailable, Overloaded
from scaar.core.ports import Answerer
from scaar.core.types import AnswerEvent, AnswerRequest

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 10.0

OnWait = Callable[[str, float], None]
"""Called when a question has waited, with the reason of the error and the seconds."""


@dataclass(frozen=True, slots=True)
class WaitSource:
    """The clock, the sleep and the random jitter of waits, which tests replace."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class RetryingAnswerer:
    """An :class:`Answerer` that retries another one while that is overloaded or unavailable.

    After an overload error no question is sent until the returned delay has passed. An answer that
    broke off starts again, with its own :class:`~scaar.core.types.AnswerStarted`. After
    ``patience_s`` without success the error is raised.
    """

    def __init__(
        self,
        answerer: Answerer,
        *,
        patience_s: float,
        waits: WaitSource | None = None,
        on_wait: OnWait = lambda reason, seconds: None,
    ) -> None:
        self._answerer = answerer
        self._patience_s = patience_s
        self._waits = waits or WaitSource()
        self._on_wait = on_wait
        self._closed_until = 0.0

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        started, wait_s = self._waits.clock(), FIRST_WAIT_S
        while True:
            await self._wait_until_open()
            try:
                async with aclosing(self._answerer.stream_answer(request)) as events:
                    async for event in events:
                        yield event
                    return
            except Overloaded as error:
                self._require_patience(started, error)
                after_s = error.retry_after_s * (1 + self._waits.chance())
                self._closed_until = max(self._closed_until, self._waits.clock() + after_s)
            except BackendUnavailable as error:
                self._require_patience(started, error)
                await self._wait(wait_s * (0.5 + self._waits.chance() / 2), error)
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _wait_until_open(self) -> None:
        while (remaining := self._closed_until - self._waits.clock()) > 0:
            await self._wait(remaining, Overloaded)

    async def _wait(
        self, seconds: float, why: Overloaded | BackendUnavailable | type[Overloaded]
    ) -> None:
        started = self._waits.clock()
        try:
            await self._waits.sleep(seconds)
        finally:
            self._on_wait(why.reason, self._waits.clock() - started)

    def _require_patience(self, started: float, error: Overloaded | BackendUnavailable) -> None:
        if self._waits.clock() - started >= self._patience_s:
            raise error
