"""A generator whose server goes is not ready, and is again when the server is back."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.lab_servers.tgi import open_tgi_server
from scaar.testing.processes import running_service
from scaar.wire.generator import SERVICE_NAME

Status = health_pb2.HealthCheckResponse


async def until_status(target: str, expected: int) -> None:
    """Return when the health service reports this status."""
    request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
    async with asyncio.timeout(60), grpc.aio.insecure_channel(target) as channel:
        async for response in health_pb2_grpc.HealthStub(channel).Watch(request):
            if response.status == expected:
                return


@pytest.mark.long
async def test_a_generator_is_ready_while_its_server_is(tmp_path: Path) -> None:
    async with AsyncExitStack() as first:
        server = await first.enter_async_context(open_tgi_server())
        address = server.url.removeprefix("http://")
        settings = {
            "SCAAR_GENERATOR_ENGINE": "tgi",
            "SCAAR_GENERATOR_URL": server.url,
            "SCAAR_GENERATOR_PROMPT_PROFILE": "lab",
        }
        with running_service("generator", tmp_path / "home", **settings) as service:
            target = await asyncio.to_thread(lambda: service.target)
            await until_status(target, Status.SERVING)
            await first.aclose()
            await until_status(target, Status.NOT_SERVING)
            async with open_tgi_server(address):
                await until_status(target, Status.SERVING)
            assert service.process.poll() is None
