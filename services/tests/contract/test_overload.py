"""Over sockets: an overloaded orchestrator refuses before any model call, or answers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from scaar.core.errors import Overloaded
from scaar.core.loop.loop import Ports
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    GenerateRequest,
    GenerationEvent,
    Passage,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    SCRIPTED_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sockets import loop_by

LIMIT, ANSWERS = 4, 60


def script(request: GenerateRequest) -> list[Piece]:
    """Unsure of Paris, so that every answer is retrieved for once."""
    if request.prefix:
        return [(" So the answer is London.", -0.1)]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born", -0.1), (" in", -0.2), place]


class LimitedGenerator(ScriptedGenerator):
    """Refuses a generation while ``LIMIT`` are running, whether or not it declares the limit."""

    def __init__(self, declared: int | None) -> None:
        model = replace(SCRIPTED_MODEL, max_concurrent_generations=declared)
        super().__init__(script, model=model, delay_s=0.002)

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        if self.opened - self.closed >= LIMIT:
            raise Overloaded("no place", retry_after_s=0.05)
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event


@pytest.mark.parametrize("orchestrators", [1, 2])
@pytest.mark.parametrize("declared", [LIMIT, None])
async def test_every_answer_completes_or_is_rejected_before_its_first_model_call(
    declared: int | None, orchestrators: int
) -> None:
    generator = LimitedGenerator(declared)
    retriever = InMemoryRetriever({"lab": [Passage("p1", "Ada", "Ada was born in London.")]})
    ports = Ports(
        generator, ScriptedScorer({"Ada": 0.3, "Paris.": 0.7}), LocalQueryBuilder(), retriever
    )

    async with AsyncExitStack() as stack:
        answerers = [
            await stack.enter_async_context(loop_by("grpc", ports)) for _ in range(orchestrators)
        ]

        async def answered(number: int) -> Answer | Overloaded:
            request = AnswerRequest(f"Where was Ada born, <{number}>?")
            stream = answerers[number % orchestrators].stream_answer(request)
            try:
                async with aclosing(stream) as events:
                    *_, last = [event async for event in events]
            except Overloaded as error:
                return error
            assert isinstance(last, AnswerFinished)
            return last.answer

        results = await asyncio.gather(*(answered(number) for number in range(ANSWERS)))
    for number, result in enumerate(results):
        calls = sum(f"<{number}>" in request.prompt for request in generator.requests)
        if isinstance(result, Answer):
            assert (calls, result.answer) == (result.usage.llm_calls, "London")
        else:
            assert calls == 0
            assert retry_delay_of(result) > 0
    assert sum(isinstance(result, Answer) for result in results) >= LIMIT
    assert generator.opened == generator.closed


def retry_delay_of(error: Overloaded) -> float:
    """The delay of the RetryInfo that came with a status."""
    cause: Any = error.__cause__
    assert isinstance(cause, grpc.aio.AioRpcError)
    assert cause.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    details, retry = dict(cause.trailing_metadata() or ())["grpc-status-details-bin"], RetryInfo()
    assert any(detail.Unpack(retry) for detail in Status.FromString(details).details)
    return float(retry.retry_delay.ToNanoseconds() / 1e9)
