"""Health as probes ask it."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from .access import EVALUATOR, ORCHESTRATOR, Access
from .client import PATIENCE_S
from .needs import Need, needs

SERVING = health_pb2.HealthCheckResponse.SERVING


async def health_of(channel: grpc.aio.Channel, service: str) -> int:
    """What it says of the service; "" is the process."""
    check = health_pb2_grpc.HealthStub(channel).Check
    requested = health_pb2.HealthCheckRequest(service=service)
    return int((await check(requested, timeout=PATIENCE_S, wait_for_ready=True)).status)


@pytest.mark.parametrize("service", ["", ORCHESTRATOR])
async def test_an_orchestrator_reports_serving(channel: grpc.aio.Channel, service: str) -> None:
    assert await health_of(channel, service) == SERVING


@needs(Need.EVALUATOR)
@pytest.mark.parametrize("service", ["", EVALUATOR])
async def test_an_evaluator_reports_serving(access: Access, service: str) -> None:
    async with access.evaluator_channel() as channel:
        assert await health_of(channel, service) == SERVING


async def test_the_health_of_an_unknown_service_is_not_found(channel: grpc.aio.Channel) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await health_of(channel, "scaar.v1.NoService")
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND
