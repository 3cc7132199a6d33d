"""Admission of answers: as many concurrent answers as the services behind them can serve.

A generator serves a limited number of generations. An answer admitted beyond that limit is refused
later, when its work is lost. So an answer is admitted before its first model call, waits for a
place in a short queue, or is refused; one that was admitted keeps its place to its end.

An answer has at most one generation and one ``Attend`` call in flight: it stops its draft before it
regenerates a sentence or concludes. One place per answer is therefore enough, and running answers
cannot starve each other.

The limit starts at what the generator declares. It adapts by additive increase, multiplicative
decrease (Chiu and Jain, 1989): orchestrators that share a generator, or a generator with several
replicas, find their share by its refusals. Own code: the libraries for adaptive concurrency limits
in Python are for threads, or limit single calls and know nothing of answers.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from scaar.core.errors import Overloaded
from scaar.core.observers import UNOBSERVED_CAPACITY, CapacityObserver, Shed
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

_DECREASE = 0.9
_WEIGHT = 0.1
"""Weight of the latest answer in the mean duration of answers."""
_SHORTEST_S, _LONGEST_S = 0.1, 60.0
_FIRST_PAUSE_S = 0.02
"""Pause after the first refusal of a call: it may have met a generation of its own answer that was
just being stopped."""
_TOO_MANY_REFUSALS = 3
"""Consecutive refusals of a call that mean too many running answers: the first one, one after the
pause, and one after the retry delay of the service."""
_JITTER = 0.25

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CapacityLimits:
    """Bounds of the learned limit and of the queue."""

    max_answers: int = 64
    """Highest value of the learned limit."""
    max_queued: int = 16
    """Maximum number of answers that wait for a place."""
    max_queue_s: float = 5.0
    """Maximum time, in seconds, that an answer waits for its first model call."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Clock, sleep and randomness, which tests replace."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class AnswerCapacity:
    """Places for answers: a learned limit, and a bounded FIFO queue for a place."""

    def __init__(
        self,
        limits: CapacityLimits | None = None,
        *,
        observer: CapacityObserver = UNOBSERVED_CAPACITY,
        waiting: Waiting | None = None,
    ) -> None:
        self._limits = limits or CapacityLimits()
        self._observer = observer
        self._waiting = waiting or Waiting()
        self._limit = float(self._limits.max_answers)
        self._declared: int | None = None
        self._under_way = 0
        self._queue = deque[asyncio.Future[None]]()
        self._waiting_calls = {True: 0, False: 0}
        """Calls that wait after a refusal, by whether their answer has started."""
        self._unserved = 0
        """Those calls among them with :data:`_TOO_MANY_REFUSALS` or more refusals."""
        self._mean_s = 1.0
        self._report()

    @property
    def limit(self) -> int:
        """Maximum number of running answers."""
        return int(self._limit)

    @property
    def under_way(self) -> int:
        """Answers that hold a place."""
        return self._under_way

    @property
    def queued(self) -> int:
        """Answers that wait for a place."""
        return len(self._queue)

    @asynccontextmanager
    async def place(
        self, *, declared: int | None, remaining_s: float
    ) -> AsyncIterator["AnswerPlace"]:
        """Hold a place for one answer until the block ends; wait for it at most ``remaining_s``.

        ``declared`` is the limit that the generator declares, or None.

        Raises:
            Overloaded: there is no place and no room in the queue, or no place in time. No work
                was done for the answer.
        """
        self._learn(declared)
        began = self._waiting.clock()
        if self._queue or not self._has_room():
            await self._wait_in_queue(remaining_s)
        else:
            self._under_way += 1
            self._report()
        place = AnswerPlace(self, self._waiting, began + self._limits.max_queue_s)
        began = self._waiting.clock()
        try:
            yield place
        finally:
            if place.started:
                self._ended(self._waiting.clock() - began)
            self._leave()

    def _learn(self, declared: int | None) -> None:
        """Start again from the declared limit whenever it changes."""
        if declared is not None and declared != self._declared:
            self._limit = float(max(1, min(declared, self._limits.max_answers)))
        self._declared = declared

    def _has_room(self) -> bool:
        # A refused call has priority over new answers.
        return self._under_way < self.limit and not any(self._waiting_calls.values())

    async def _wait_in_queue(self, remaining_s: float) -> None:
        longest_s = min(self._limits.max_queue_s, remaining_s)
        if len(self._queue) >= self._limits.max_queued:
            raise self._refusal(Shed.QUEUE_FULL)
        if self._expected_wait_s() > longest_s:
            raise self._refusal(Shed.TOO_LATE)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._report()
        try:
            async with asyncio.timeout(longest_s):
                await turn
        except BaseException as error:
            if turn in self._queue:
                self._queue.remove(turn)
                self._report()
            elif not turn.cancelled():
                # The place was granted just as the wait ended.
                self._leave()
            if isinstance(error, TimeoutError):
                raise self._refusal(Shed.TOO_LATE) from error
            raise

    def _expected_wait_s(self) -> float:
        """Return the expected time until a new entry of the queue gets a place."""
        return (len(self._queue) + 1) * self._mean_s / max(1, self.limit)

    def _refusal(self, reason: Shed) -> Overloaded:
        self._observer.on_answer_shed(reason)
        text = f"{self._under_way} answers are running and {len(self._queue)} are queued"
        after_s = min(max(self._expected_wait_s(), _SHORTEST_S), _LONGEST_S)
        return Overloaded(f"{text}: retry after the delay", retry_after_s=after_s)

    def _ended(self, seconds: float) -> None:
        self._mean_s += _WEIGHT * (seconds - self._mean_s)
        if self._under_way >= self.limit and not any(self._waiting_calls.values()):
            self._limit = min(self._limit + 1 / self._limit, self._limits.max_answers)

    def _leave(self) -> None:
        self._under_way -= 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self._has_room():
            turn = self._queue.popleft()
            if not turn.done():
                self._under_way += 1
                turn.set_result(None)
        self._report()

    def _hold_back(self, *, started: bool) -> None:
        self._waiting_calls[started] += 1

    def _let_go(self, refusals: int, *, started: bool) -> None:
        self._waiting_calls[started] -= 1
        self._unserved -= refusals >= _TOO_MANY_REFUSALS
        self._admit()

    def _refused(self, refusals: int) -> None:
        """Record a further consecutive refusal of a call."""
        self._observer.on_call_repeated()
        if refusals >= _TOO_MANY_REFUSALS:
            self._unserved += refusals == _TOO_MANY_REFUSALS
            self._decrease()

    def _decrease(self) -> None:
        """Lower the limit below the number of answers that are being served.

        With more running answers than the generator declares, a refusal only ends the search above
        the declared number: the limit falls back to that number.
        """
        served = self._under_way - self._unserved
        maximum = _DECREASE * served
        if self._declared is not None and self._under_way > self._declared:
            maximum = max(maximum, self._declared)
        self._limit = max(1.0, min(self._limit, maximum))
        self._report()

    def _report(self) -> None:
        self._observer.on_answer_counts(
            limit=self.limit, under_way=self._under_way, queued=len(self._queue)
        )


class AnswerPlace:
    """The place of one answer, which repeats calls that a service refuses for overload."""

    def __init__(self, capacity: AnswerCapacity, waiting: Waiting, first_call_until: float) -> None:
        self._capacity = capacity
        self._waiting = waiting
        self._first_call_until = first_call_until
        self.started = False
        """Whether the model has worked for the answer."""

    async def repeated(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result of the call, repeated after each refusal until it is admitted.

        An answer that has started waits until its deadline, ahead of those that have not: its work
        would be lost.

        Raises:
            Overloaded: the answer has not started, and has waited for the maximum time.
        """
        refusals, started = 0, self.started
        try:
            while True:
                try:
                    return await call()
                except Overloaded as error:
                    if not refusals:
                        started = self.started
                        self._capacity._hold_back(started=started)
                    refusals += 1
                    await self._pause(error, refusals, started=started)
        finally:
            if refusals:
                self._capacity._let_go(refusals, started=started)

    def generator(self, generator: Generator) -> Generator:
        """Return the generator with repeated calls."""
        return _PlacedGenerator(generator, self)

    async def _pause(self, error: Overloaded, refusals: int, *, started: bool) -> None:
        capacity, waiting = self._capacity, self._waiting
        capacity._refused(refusals)
        pause_s = _FIRST_PAUSE_S
        if refusals > 1:
            pause_s = max(error.retry_after_s, _FIRST_PAUSE_S) * (1 + _JITTER * waiting.chance())
        while True:
            if not started and waiting.clock() + pause_s > self._first_call_until:
                raise capacity._refusal(Shed.BACK_END) from error
            await waiting.sleep(pause_s)
            if started or not capacity._waiting_calls[True]:
                return


class _PlacedGenerator(WrappedGenerator):
    """A generator whose refused calls are repeated by the place of an answer."""

    def __init__(self, generator: Generator, place: AnswerPlace) -> None:
        super().__init__(generator)
        self._place = place

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        events, first = await self._place.repeated(lambda: self._begin(request))
        async with aclosing(events):
            if first is None:
                return
            self._place.started = True
            yield first
            async for event in events:
                yield event

    async def attend(self, request: AttendRequest) -> Attention:
        return await self._place.repeated(lambda: self._generator.attend(request))

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        return await self._place.repeated(lambda: self._generator.compute_logprobs(request))

    async def _begin(
        self, request: GenerateRequest
    ) -> tuple[AsyncGenerator[GenerationEvent, None], GenerationEvent | None]:
        events = self._generator.generate(request)
        try:
            return events, await anext(events, None)
        except BaseException:
            await events.aclose()
            raise
