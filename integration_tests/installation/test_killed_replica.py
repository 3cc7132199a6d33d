"""A replica killed under load: only its calls in progress fail."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import grpc
import pytest

from scaar.v1.evaluator_pb2 import EVALUATION_STATE_SUCCEEDED
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub
from scaar.v1.orchestrator_pb2 import StreamAnswerResponse
from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from . import load
from .access import Access
from .client import PATIENCE_S, answer, error_details, request, stream_request
from .evaluations import create_evaluation, wait_for_evaluation
from .needs import Need, needs
from .ours.installation import Installation

pytestmark = needs(Need.CONTROL)
CALLS = 4
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


async def started(
    channel: grpc.aio.Channel, access: Access
) -> list[AsyncIterator[StreamAnswerResponse]]:
    """Return streams of answers that have received their first token."""
    stub = OrchestratorServiceStub(channel)

    async def one() -> AsyncIterator[StreamAnswerResponse]:
        requested = stream_request(request(access))
        call = aiter(stub.StreamAnswer(requested, timeout=PATIENCE_S, wait_for_ready=True))
        async for each in call:
            if each.event.HasField("token_drafted"):
                break
        return call

    return await asyncio.gather(*(one() for _ in range(CALLS)))


async def outcome(call: AsyncIterator[StreamAnswerResponse]) -> str:
    """The last event of a stream, or the code by which it failed."""
    try:
        return [str(each.event.WhichOneof("event")) async for each in call][-1]
    except grpc.aio.AioRpcError as error:
        return error.code().name


async def test_calls_on_a_killed_orchestrator_fail_and_no_others(
    installation: Installation,
) -> None:
    access = installation.access
    killed, other = (
        replace(access, target=target) for target in installation.replicas("orchestrator")
    )
    async with killed.channel() as dying, other.channel() as living, access.channel() as both:
        on_dying, on_living = await asyncio.gather(started(dying, killed), started(living, other))
        killing = asyncio.create_task(asyncio.to_thread(installation.kill, "orchestrator"))
        assert [await outcome(call) for call in on_dying] == ["UNAVAILABLE"] * CALLS
        assert [await outcome(call) for call in on_living] == ["finished"] * CALLS
        again = await asyncio.gather(*(answer(both, request(access)) for _ in range(CALLS)))
        assert all(each.answer.answer for each in again)
        await killing


@pytest.mark.parametrize("service", ["scorer", "query-builder", "retriever"])
async def test_calls_of_a_killed_replica_are_retried_on_another(
    installation: Installation, service: str
) -> None:
    async with load.answers(installation.access) as answers:
        await asyncio.to_thread(installation.kill, service)
    assert answers.failed == []


async def test_answers_of_a_killed_generator_fail_and_may_be_retried(
    installation: Installation,
) -> None:
    async with load.answers(installation.access, clients=CALLS) as answers:
        await asyncio.to_thread(installation.kill, "generator")
    said = [error_details(error) for error in answers.failed]
    assert [(each.code, each.reason) for each in said] == [
        (UNAVAILABLE, "BACKEND_UNAVAILABLE")
    ] * len(said)
    assert len(said) <= CALLS
    assert answers.recovered == len(said)


async def test_an_evaluation_continues_when_an_evaluator_is_killed(
    installation: Installation,
) -> None:
    access = installation.access
    async with access.evaluator_channel() as channel:
        evaluator = EvaluatorServiceStub(channel)
        evaluation = await create_evaluation(evaluator, access, times=10)
        async with load.looks(access, evaluation.id) as looks:
            await asyncio.to_thread(installation.kill, "evaluator")
        assert {error.code() for error in looks.failed} <= {UNAVAILABLE}
        assert looks.recovered == len(looks.failed)
        last = await wait_for_evaluation(evaluator, evaluation)
    assert last.state == EVALUATION_STATE_SUCCEEDED
    assert (last.done, last.failed) == (last.total, 0)
