"""``scaar serve scorer`` on the real Triton server: ready while the model is."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.types import ScoreRequest
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.runtime.channels import open_channel
from scaar.testing.ports import free_port
from scaar.wire.scorer import SERVICE_NAME, RemoteScorer

from ..servers.triton.running_triton import PATIENCE_S, RunningTriton, running_triton
from ..servers.triton.triton_server import TritonServer

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SENTENCE = ScoreRequest("Who?", ("Ada", "did", "it."))


@asynccontextmanager
async def serving(
    triton_target: str, **environment: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the service as a process."""
    variables = {
        "SCAAR_SCORER_ENGINE": "triton",
        "SCAAR_SCORER_MODEL": str(model_folder(LAB_CROSS_ENCODER)),
        "SCAAR_SCORER_TRITON_TARGET": triton_target,
        "PYTHONPATH": os.pathsep.join(sys.path),
        **environment,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scaar.cli", "serve", "scorer", "--address", "127.0.0.1:0"),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **variables},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def address_of(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if b"serving on" in line:
            return line.decode().split()[-1]
    raise AssertionError("the service did not serve")


async def until(channel: grpc.aio.Channel, status: int) -> None:
    """Wait until the service's readiness has the status."""
    request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
    async with asyncio.timeout(PATIENCE_S):
        async for reported in health_pb2_grpc.HealthStub(channel).Watch(request):
            if reported.status == status:
                return


async def test_the_service_is_ready_while_the_model_is(
    server: TritonServer, exported: Path
) -> None:
    port = free_port()
    async with serving(f"127.0.0.1:{port}") as process:
        address = await address_of(process)
        async with open_channel(address) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            await until(channel, NOT_SERVING)
            with running_triton(server, exported, port=port) as running:
                await until(channel, SERVING)
                scorer = RemoteScorer(channel, address)
                (row,) = await scorer.score_contributions([SENTENCE])
                assert len(row) == 3
                running.kill()
                await until(channel, NOT_SERVING)
                process_alive = await health.Check(health_pb2.HealthCheckRequest(service=""))
                assert process_alive.status == SERVING
            with running_triton(server, exported, port=port):
                await until(channel, SERVING)


async def test_the_service_does_not_start_on_an_unknown_model(triton: RunningTriton) -> None:
    async with serving(triton.target, SCAAR_SCORER_TRITON_MODEL="no_such") as process:
        _, said = await process.communicate()
    assert process.returncode == 1
    assert b"has no model 'no_such'" in said
