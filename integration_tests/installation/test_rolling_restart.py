"""Every replica of a service replaced under load, one after the other: no call fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.v1.evaluator_pb2 import EVALUATION_STATE_SUCCEEDED
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from . import load
from .access import channel_options
from .client import PATIENCE_S
from .evaluations import create_evaluation, wait_for_evaluation
from .needs import Need, needs
from .ours.installation import BACK_ENDS, Installation, full_name

pytestmark = needs(Need.CONTROL)
SAID_BY_ONE_THAT_STOPS = [
    health_pb2.HealthCheckResponse.SERVING,
    health_pb2.HealthCheckResponse.NOT_SERVING,
]


async def heard(watch: AsyncIterator[health_pb2.HealthCheckResponse]) -> list[int]:
    """What is still said until the replica is gone, and with it perhaps the way to it."""
    said: list[int] = []
    try:
        async for each in watch:
            said.append(each.status)
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise
    return said


async def replaced(installation: Installation, service: str) -> None:
    """Replaces the replicas; each of them must say that it stops before it does."""
    before = installation.replicas(service)
    requested = health_pb2.HealthCheckRequest(service=full_name(service))
    async with AsyncExitStack() as stack:
        watches = []
        for target in before:
            opened = grpc.aio.insecure_channel(target, channel_options(""))
            watch = health_pb2_grpc.HealthStub(await stack.enter_async_context(opened)).Watch
            watches.append(aiter(watch(requested, timeout=10 * PATIENCE_S, wait_for_ready=True)))
        said = [[(await anext(watch)).status] for watch in watches]
        # What has come and is not taken is lost where a connection breaks off.
        hearing = [asyncio.create_task(heard(watch)) for watch in watches]
        await asyncio.to_thread(installation.replace, service)
        for reported, rest in zip(said, hearing, strict=True):
            reported += await rest
    assert said == [SAID_BY_ONE_THAT_STOPS] * len(before)
    # What a replica left, another may have taken; the last one left its place for nobody.
    after = installation.replicas(service)
    assert (before[-1] in after, len(after)) == (False, len(before))


@pytest.mark.parametrize(
    "service",
    [pytest.param(each, marks=[pytest.mark.long] * (each != "retriever")) for each in BACK_ENDS],
)
async def test_no_answer_fails_while_a_service_is_replaced(
    installation: Installation, service: str
) -> None:
    async with load.answers(installation.access) as answers:
        await replaced(installation, service)
    assert answers.failed == []
    assert answers.retrievals


@pytest.mark.parametrize("service", ["orchestrator", "evaluator"])
async def test_neither_answer_nor_evaluation_suffers_while_a_service_is_replaced(
    installation: Installation, service: str
) -> None:
    access = installation.access
    async with access.evaluator_channel() as channel:
        evaluator = EvaluatorServiceStub(channel)
        evaluation = await create_evaluation(evaluator, access, times=5)
        async with (
            load.answers(access, clients=2) as answers,
            load.looks(access, evaluation.id, clients=2) as looks,
        ):
            await replaced(installation, service)
        assert answers.failed + looks.failed == []
        last = await wait_for_evaluation(evaluator, evaluation)
    assert last.state == EVALUATION_STATE_SUCCEEDED
    assert (last.done, last.failed) == (last.total, 0)
