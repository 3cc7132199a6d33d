"""Load: closed-loop clients, or calls at a fixed rate."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc

from scaar.v1.evaluator_pb2 import GetEvaluationRequest
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub
from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .client import PATIENCE_S, events, request, stream_request

QUESTIONS = (
    "Who directed the film The Glass Ladder?",
    "Who is the father of the director of the film The Haunted Fountain?",
    "Where was the director of the film The Silver Journey born?",
    "Who is the mother of Ilton Wilquist?",
    "When was the film The Velvet Statue released?",
)
CLIENTS = 3
Ask = Callable[[int], Awaitable[int]]
"""Asks once, as this client; how often passages were retrieved for it."""


@dataclass(slots=True)
class Answered:
    """The number of calls that have been answered so far."""

    answered: int = 0

    async def goes_on(self, calls: int) -> None:
        """Wait until this number of further calls has been answered."""
        expected = self.answered + calls
        async with asyncio.timeout(PATIENCE_S):
            while self.answered < expected:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@dataclass(slots=True)
class Load(Answered):
    """Results of the calls so far."""

    retrievals: int = 0
    failed: list[grpc.aio.AioRpcError] = field(default_factory=list)
    recovered: int = 0
    """Number of failed calls that succeeded when repeated once."""


@asynccontextmanager
async def steady(ask: Ask, *, clients: int = CLIENTS) -> AsyncIterator[Load]:
    """Generate load until the block ends, then wait for the running calls."""
    load, ending = Load(), asyncio.Event()

    async def client(number: int) -> None:
        while not ending.is_set():
            try:
                retrievals = await ask(number)
            except grpc.aio.AioRpcError as error:
                load.failed.append(error)
                retrievals = await ask(number)
                load.recovered += 1
            load.answered += 1
            load.retrievals += retrievals

    async with asyncio.TaskGroup() as tasks:
        for number in range(clients):
            tasks.create_task(client(number))
        await load.goes_on(2 * clients)
        try:
            yield load
            await load.goes_on(2 * clients)
        finally:
            ending.set()


@asynccontextmanager
async def answers(access: Access, *, clients: int = CLIENTS) -> AsyncIterator[Load]:
    """Streams of answers under scaar, which uses every service, over one channel."""
    async with access.channel() as channel:

        async def ask(number: int) -> int:
            requested = request(access)
            requested.question = QUESTIONS[number % len(QUESTIONS)]
            *_, last = await events(channel, requested)
            return last.event.finished.answer.usage.retrievals

        async with steady(ask, clients=clients) as load:
            yield load


@asynccontextmanager
async def looks(access: Access, evaluation: str, *, clients: int = CLIENTS) -> AsyncIterator[Load]:
    """Read an evaluation repeatedly over one channel."""
    async with access.evaluator_channel() as channel:
        stub = EvaluatorServiceStub(channel)
        requested = GetEvaluationRequest(evaluation_id=evaluation)

        async def ask(_: int) -> int:
            await asyncio.sleep(0.02)
            await stub.GetEvaluation(requested, timeout=PATIENCE_S, wait_for_ready=True)
            return 0

        async with steady(ask, clients=clients) as load:
            yield load


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A failed call, with its start and end on the monotonic clock."""

    client: str
    began: float
    ended: float
    code: str
    details: str


@dataclass(slots=True)
class PacedLoad:
    """Results of calls at a fixed rate."""

    answered: int = 0
    slowest_s: float = 0.0
    failed: list[FailedCall] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the counts, with up to ten failures."""
        kinds = Counter((each.client, each.code, each.details) for each in self.failed)
        shown = [f"{count} x {kind}" for kind, count in kinds.most_common(10)]
        counts = f"{self.answered} answered, {len(self.failed)} failed"
        return "\n".join((f"{counts}, slowest {self.slowest_s:.1f} s", *shown))


async def undisturbed_rate(access: Access, *, seconds: float, clients: int = 4) -> float:
    """Return the answers a second that an installation gives to this number of clients.

    More of them leave a machine of two cores too little for what an upgrade starts.
    """
    async with answers(access, clients=clients) as load:
        before, began = load.answered, time.monotonic()
        await asyncio.sleep(seconds)
        rate = (load.answered - before) / (time.monotonic() - began)
    assert load.failed == []
    return rate


@asynccontextmanager
async def paced(access: Access, per_s: float) -> AsyncIterator[PacedLoad]:
    """Start calls at a fixed rate until the block ends, independently of earlier calls.

    Two clients make them in turn, neither of which repeats a call: one that checks health and
    waits for a ready server, as docs/clients.md recommends, and one that does neither.
    """
    load, ending = PacedLoad(), asyncio.Event()
    async with access.channel() as checking, access.plain_channel() as plain:
        clients = {"checking": (checking, True), "plain": (plain, False)}

        async def ask(number: int) -> None:
            name = list(clients)[number % len(clients)]
            channel, waits = clients[name]
            requested = request(access)
            requested.question = QUESTIONS[number // len(clients) % len(QUESTIONS)]
            began = time.monotonic()
            stub = OrchestratorServiceStub(channel)
            call = stub.StreamAnswer(
                stream_request(requested), timeout=PATIENCE_S, wait_for_ready=waits
            )
            try:
                async for _ in call:
                    pass
            except grpc.aio.AioRpcError as error:
                details = (error.code().name, error.details() or "")
                load.failed.append(FailedCall(name, began, time.monotonic(), *details))
            else:
                load.answered += 1
                load.slowest_s = max(load.slowest_s, time.monotonic() - began)

        async def begin() -> None:
            async with asyncio.TaskGroup() as calls:
                due, number = time.monotonic(), 0
                while not ending.is_set():
                    calls.create_task(ask(number))
                    number, due = number + 1, due + 1 / per_s
                    await asyncio.sleep(due - time.monotonic())

        asking = asyncio.create_task(begin())
        try:
            yield load
        finally:
            ending.set()
            await asking
