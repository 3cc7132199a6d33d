"""Asking whoever sheds load, or is away for a while, without asking more of it."""

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

HeldBack = Callable[[str, float], None]
"""Told of a question that waited: for which reason, an error's, and for how many seconds."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The clock by which is waited, how, and the share of a wait that is left to chance."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class PatientAnswerer:
    """An :class:`Answerer` that asks another again while that has no room or does not answer.

    Where it has no room, nothing is asked of it until the time is over that it named: neither this
    question nor another. An answer that broke off begins again, with an
    :class:`~scaar.core.types.AnswerStarted` of its own. After ``patience_s`` without an answer the
    condition is told.
    """

    def __init__(
        self,
        answerer: Answerer,
        *,
        patience_s: float,
        waiting: Waiting | None = None,
        held_back: HeldBack = lambda reason, seconds: None,
    ) -> None:
        self._answerer = answerer
        self._patience_s = patience_s
        self._waiting = waiting or Waiting()
        self._held_back = held_back
        self._closed_until = 0.0

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        began, wait_s = self._waiting.clock(), FIRST_WAIT_S
        while True:
            await self._let_in()
            try:
                async with aclosing(self._answerer.stream_answer(request)) as events:
                    async for event in events:
                        yield event
                    return
            except Overloaded as error:
                self._require_patience(began, error)
                after_s = error.retry_after_s * (1 + self._waiting.chance())
                self._closed_until = max(self._closed_until, self._waiting.clock() + after_s)
            except BackendUnavailable as error:
                self._require_patience(began, error)
                await self._wait(wait_s * (0.5 + self._waiting.chance() / 2), error)
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _let_in(self) -> None:
        while (left := self._closed_until - self._waiting.clock()) > 0:
            await self._wait(left, Overloaded)

    async def _wait(
        self, seconds: float, why: Overloaded | BackendUnavailable | type[Overloaded]
    ) -> None:
        began = self._waiting.clock()
        try:
            await self._waiting.sleep(seconds)
        finally:
            self._held_back(why.reason, self._waiting.clock() - began)

    def _require_patience(self, began: float, error: Overloaded | BackendUnavailable) -> None:
        if self._waiting.clock() - began >= self._patience_s:
            raise error
