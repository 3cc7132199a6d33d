"""Steady load: so many clients, each asking again as soon as it was answered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc

from scaar.v1.evaluator_pb2 import GetEvaluationRequest
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from .access import Access
from .asking import PATIENCE_S, events, request

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
class Load:
    """What became of the calls so far."""

    answered: int = 0
    retrievals: int = 0
    failed: list[grpc.aio.AioRpcError] = field(default_factory=list)
    recovered: int = 0
    """How many of those that failed were answered when they were asked once more."""

    async def goes_on(self, calls: int) -> None:
        """Returns when so many calls more have been answered."""
        wanted = self.answered + calls
        async with asyncio.timeout(PATIENCE_S):
            while self.answered < wanted:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@asynccontextmanager
async def steady(ask: Ask, *, clients: int = CLIENTS) -> AsyncIterator[Load]:
    """Load until the block ends; then the calls under way are waited for."""
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
            asked = request(access)
            asked.question = QUESTIONS[number % len(QUESTIONS)]
            *_, last = await events(channel, asked)
            return last.event.finished.answer.usage.retrievals

        async with steady(ask, clients=clients) as load:
            yield load


@asynccontextmanager
async def looks(access: Access, evaluation: str, *, clients: int = CLIENTS) -> AsyncIterator[Load]:
    """Looks at an evaluation, over one channel."""
    async with access.evaluator_channel() as channel:
        stub = EvaluatorServiceStub(channel)
        asked = GetEvaluationRequest(evaluation_id=evaluation)

        async def ask(_: int) -> int:
            await asyncio.sleep(0.02)
            await stub.GetEvaluation(asked, timeout=PATIENCE_S, wait_for_ready=True)
            return 0

        async with steady(ask, clients=clients) as load:
            yield load
