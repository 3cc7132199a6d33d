"""Health at an address of its own, on real sockets: for probers that can show no certificate."""

import asyncio
import re
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.errors import AlreadyExists, BackendUnavailable
from scaar.core.types import QueryRequest, QuerySettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.query_builder.settings import QueryBuilderSettings
from scaar.runtime import probe
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.health import wait_until_serving
from scaar.runtime.server import RunningServer, open_server
from scaar.testing.certificates import Authority
from scaar.wire.query_builder import SERVICE_NAME, QueryBuilderServicer, RemoteQueryBuilder
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
REQUEST = QueryRequest("Who is it?", QuerySettings("question", include_question=False))
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@asynccontextmanager
async def serving(**settings: object) -> AsyncIterator[RunningServer]:
    given = QueryBuilderSettings.model_validate({"stop_grace_s": 0.0, **settings})
    servicer = QueryBuilderServicer(LocalQueryBuilder())
    async with open_server([servicer], LOOPBACK, given, status_of=status_of) as server:
        yield server


async def status(address: str, service: str) -> int:
    async with open_channel(address, settings=ChannelSettings(attempts=1)) as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        return int((await health_pb2_grpc.HealthStub(channel).Check(request)).status)


async def test_a_tls_server_serves_health_in_plaintext(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    issued = authority.issue()
    async with serving(
        health_address=LOOPBACK,
        tls_cert_file=issued.cert,
        tls_key_file=issued.key,
        tls_client_ca_file=authority.ca,
    ) as server:
        assert server.health_address is not None
        for service in ("", SERVICE_NAME):
            await wait_until_serving(server.health_address, service)
            assert await status(server.health_address, service) == SERVING
        with pytest.raises(BackendUnavailable):
            await wait_until_serving(server.target, timeout_s=0.3)


async def test_the_images_probe_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(health_address=LOOPBACK) as server:
        assert server.health_address is not None
        requested = [server.health_address, SERVICE_NAME]
        assert await asyncio.to_thread(probe.main, requested) == 0
        monkeypatch.setenv("PROBE", " ".join(requested))
        assert await asyncio.to_thread(probe.main, []) == 0
        monkeypatch.setenv("PROBE", f"{server.health_address} scaar.v1.ScorerService")
        assert await asyncio.to_thread(probe.main, []) == 1
    monkeypatch.delenv("PROBE")
    assert probe.main([]) == 2


async def test_only_health_is_served_on_the_health_address() -> None:
    async with serving(health_address=LOOPBACK) as server:
        assert server.health_address is not None
        async with open_channel(server.health_address) as channel:
            with pytest.raises(Exception, match="Method not found"):
                await RemoteQueryBuilder(channel, server.health_address).build_query(REQUEST)


async def test_an_unknown_service_is_not_found() -> None:
    async with serving(health_address=LOOPBACK) as server:
        assert server.health_address is not None
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await status(server.health_address, "scaar.v1.ScorerService")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_it_reports_not_serving_during_a_drain() -> None:
    entered, leave = asyncio.Event(), asyncio.Event()
    found: list[str] = []

    async def serve() -> None:
        async with serving(health_address=LOOPBACK, drain_s=60.0) as server:
            found.append(server.health_address or "")
            entered.set()
            await leave.wait()

    task = asyncio.create_task(serve())
    await entered.wait()
    leave.set()
    async with asyncio.timeout(30), open_channel(found[0]) as channel:
        request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
        async for reported in health_pb2_grpc.HealthStub(channel).Watch(request):
            if reported.status == NOT_SERVING:
                break
    assert await status(found[0], "") == SERVING
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_without_an_address_there_is_no_health_server() -> None:
    async with serving() as server:
        assert server.health_address is None


async def test_a_used_address_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AlreadyExists, match=f"address 127.0.0.1:{port} is already in use"):
            async with serving(health_address=f"127.0.0.1:{port}"):
                pass


async def test_a_command_reports_the_health_address() -> None:
    command = ("-m", "scaar.cli", "serve", "query-builder", "--address", LOOPBACK)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *command),
        env={"PYTHONPATH": ":".join(sys.path), "SCAAR_QUERY_BUILDER_HEALTH_ADDRESS": LOOPBACK},
        stderr=PIPE,
    )
    assert process.stderr is not None
    await process.stderr.readline()
    reported = re.fullmatch(r"health at (\S+)\n", (await process.stderr.readline()).decode())
    assert reported
    await wait_until_serving(reported[1], SERVICE_NAME)
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0
