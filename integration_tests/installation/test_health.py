"""Health as probes ask it."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from .access import EVALUATOR, ORCHESTRATOR, Access
from .asking import PATIENCE_S
from .needs import Need, needs

SERVING = health_pb2.HealthCheckResponse.SERVING


async def health_of(channel: grpc.aio.Channel, service: str) -> int:
    """What it says of the service; "" is the process."""
    check = health_pb2_grpc.HealthStub(channel).Check
    asked = health_pb2.HealthCheckRequest(service=service)
    return int((await check(asked, timeout=PATIENCE_S, wait_for_ready=True)).status)


@pytest.mark.parametrize("service", ["", ORCHESTRATOR])
async def test_an_orchestrator_says_that_it_serves(channel: grpc.aio.Channel, service: str) -> None:
    assert await health_of(channel, service) == SERVING


@needs(Need.EVALUATOR)
@pytest.mark.parametrize("service", ["", EVALUATOR])
async def test_an_evaluator_says_that_it_serves(access: Access, service: str) -> None:
    async with access.evaluator_channel() as channel:
        assert await health_of(channel, service) == SERVING


async def test_of_a_service_that_is_not_there_nothing_is_known(channel: grpc.aio.Channel) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await health_of(channel, "scaar.v1.NoService")
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND
