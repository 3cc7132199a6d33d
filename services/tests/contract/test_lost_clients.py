"""An answer whose client is gone, or whose time is up: every part of it stops, at any stage.

Client, orchestrator and back ends each on either side of a real socket.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from scaar.core.errors import DeadlineExceeded
from scaar.core.loop.loop import Ports
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    BudgetLimits,
    GenerateRequest,
    GenerationEvent,
    IndexDescription,
    Passage,
    Query,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScoreRequest,
    TokenDrafted,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer
from scaar.testing.sockets import loop_by

QUESTION = "Where was Ada born?"
STAGES = (
    "opening the answer",
    "drafting sentence 0",
    "judging sentence 0",
    "building the query for sentence 0",
    "retrieving for sentence 0",
    "writing sentence 0 again",
    "concluding",
)


@dataclass
class Trap:
    """Where an answer hangs: entered, and left when it was given up."""

    stage: str
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def hang_at(self, stage: str) -> None:
        if stage != self.stage:
            return
        self.entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()


class TrappedGenerator(ScriptedGenerator):
    def __init__(self, trap: Trap) -> None:
        super().__init__(script)
        self._trap = trap

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        async with aclosing(super().generate(request)) as events:
            yield await anext(events)
            if request.prefix.endswith("So the answer is"):
                await self._trap.hang_at("concluding")
            elif "Context:" in request.prompt:
                await self._trap.hang_at("writing sentence 0 again")
            else:
                await self._trap.hang_at("drafting sentence 0")
            async for event in events:
                yield event


class TrappedScorer(ScriptedScorer):
    def __init__(self, trap: Trap) -> None:
        super().__init__({"Paris.": 0.5})
        self._trap = trap

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        await self._trap.hang_at("judging sentence 0")
        return await super().score_contributions(requests)


class TrappedQueryBuilder(LocalQueryBuilder):
    def __init__(self, trap: Trap) -> None:
        self._trap = trap

    async def build_query(self, request: QueryRequest) -> Query:
        await self._trap.hang_at("building the query for sentence 0")
        return await super().build_query(request)


class TrappedRetriever(InMemoryRetriever):
    def __init__(self, trap: Trap) -> None:
        super().__init__({"lab": [Passage("p", "Ada", "Ada was born in London.")]})
        self._trap = trap

    async def describe_index(self, index: str) -> IndexDescription:
        await self._trap.hang_at("opening the answer")
        return await super().describe_index(index)

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        await self._trap.hang_at("retrieving for sentence 0")
        return await super().retrieve(request)


def script(requested: GenerateRequest) -> list[Piece]:
    """Unsure of Paris; never comes to a conclusion by itself."""
    if requested.prefix:
        return [(" London.", -0.1)] if requested.prefix.endswith("answer is") else []
    place = " London." if "Context:" in requested.prompt else " Paris."
    return [(" Ada", -0.01), (" was born in", -0.01), (place, -2.0)]


def trapped(trap: Trap) -> Ports:
    return Ports(
        TrappedGenerator(trap),
        TrappedScorer(trap),
        TrappedQueryBuilder(trap),
        TrappedRetriever(trap),
    )


@asynccontextmanager
async def answering(ports: Ports, request: AnswerRequest) -> AsyncIterator[asyncio.Task[None]]:
    """A client that reads every event, until the block is left."""
    async with loop_by("grpc", ports) as answerer:

        async def read() -> None:
            async with aclosing(answerer.stream_answer(request)) as events:
                async for _ in events:
                    pass

        task = asyncio.create_task(read())
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait([task])


async def in_time(event: asyncio.Event) -> None:
    async with asyncio.timeout(10):
        await event.wait()


@pytest.mark.parametrize("stage", STAGES)
async def test_a_disconnected_client_ends_the_work_at_any_stage(stage: str) -> None:
    trap = Trap(stage)
    ports = trapped(trap)
    async with answering(ports, AnswerRequest(QUESTION)) as client:
        await in_time(trap.entered)
        assert not trap.left.is_set()
        client.cancel()
        await in_time(trap.left)
        await all_closed(ports.generator)


@pytest.mark.parametrize("stage", STAGES)
async def test_time_that_is_up_ends_the_work_and_names_the_stage(stage: str) -> None:
    trap = Trap(stage)
    ports = trapped(trap)
    request = AnswerRequest(QUESTION, budget=BudgetLimits(timeout_s=1.0))
    async with answering(ports, request) as client:
        with pytest.raises(DeadlineExceeded) as caught:
            await client
        assert trap.entered.is_set()
        assert caught.value.metadata == {"stage": stage}
        await in_time(trap.left)
        await all_closed(ports.generator)


async def test_generation_stops_within_a_token_of_the_client() -> None:
    turn = asyncio.Semaphore(0)
    written = 0

    class Stepped(ScriptedGenerator):
        """Writes a token a turn."""

        async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
            nonlocal written
            async with aclosing(super().generate(request)) as events:
                async for event in events:
                    await turn.acquire()
                    written += 1
                    yield event

    generator = Stepped(lambda requested: [(" la", -0.1)] * 500)
    trap = Trap("nowhere")
    ports = Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), TrappedRetriever(trap))
    seen: list[AnswerEvent] = []
    async with loop_by("grpc", ports) as answerer:
        async with aclosing(answerer.stream_answer(AnswerRequest(QUESTION))) as events:
            for _ in range(10):
                turn.release()
            async for event in events:
                seen.append(event)
                if sum(isinstance(each, TokenDrafted) for each in seen) == 5:
                    break
        await all_closed(generator)
        for _ in range(100):
            turn.release()
            await asyncio.sleep(0)
    assert written <= 10, "no turn was taken after the client had gone"


async def all_closed(generator: object) -> None:
    """Over sockets it takes a moment."""
    assert isinstance(generator, ScriptedGenerator)
    async with asyncio.timeout(10):
        while True:
            if generator.opened == generator.closed:
                return
            await asyncio.sleep(0.005)
