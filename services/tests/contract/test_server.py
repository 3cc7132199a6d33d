import asyncio
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from scaar.core.errors import AlreadyExists, BackendUnavailable, InvalidRequest
from scaar.core.types import GenerateRequest, GenerationEnd
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.health import wait_until_serving
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import ScriptedGenerator
from scaar.testing.sockets import serving
from scaar.wire.generator import SERVICE_NAME, GeneratorServicer, RemoteGenerator
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
FAST = ServiceSettings(stop_grace_s=0)
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def servicer(delay_s: float = 0.0) -> GeneratorServicer:
    return GeneratorServicer(ScriptedGenerator({"a": [(" x", -0.1)] * 5}, delay_s=delay_s))


async def services_told(channel: grpc.aio.Channel) -> list[str]:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    call = stub.ServerReflectionInfo()
    await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    await call.done_writing()
    response = await call.read()
    return [service.name for service in response.list_services_response.service]


async def test_reflection_tells_the_services() -> None:
    async with serving(servicer()) as (channel, _):
        assert await services_told(channel) == [
            "grpc.health.v1.Health",
            "grpc.reflection.v1alpha.ServerReflection",
            "scaar.v1.GeneratorService",
        ]


async def test_reflection_can_be_turned_off() -> None:
    settings = ServiceSettings(reflection=False, stop_grace_s=0)
    async with serving(servicer(), settings) as (channel, _):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await services_told(channel)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("service", ["", SERVICE_NAME])
async def test_the_process_and_its_service_report_serving(service: str) -> None:
    async with serving(servicer()) as (channel, target):
        request = health_pb2.HealthCheckRequest(service=service)
        assert (await health_pb2_grpc.HealthStub(channel).Check(request)).status == SERVING
        await wait_until_serving(target, service, timeout_s=5)


async def test_a_service_that_is_not_there_is_not_found() -> None:
    async with serving(servicer()) as (channel, _):
        request = health_pb2.HealthCheckRequest(service="scaar.v1.ScorerService")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await health_pb2_grpc.HealthStub(channel).Check(request)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_every_watcher_hears_of_a_change_also_when_another_has_left() -> None:
    async with (
        open_server([servicer()], LOOPBACK, FAST, status_of=status_of) as server,
        open_channel(server.target) as channel,
    ):
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
        leaving, staying = stub.Watch(request), stub.Watch(request)
        assert (await leaving.read()).status == SERVING
        assert (await staying.read()).status == SERVING
        leaving.cancel()
        await asyncio.sleep(0.05)
        server.health.set_serving(SERVICE_NAME, False)
        async with asyncio.timeout(5):
            assert (await staying.read()).status == NOT_SERVING
        check = await stub.Check(health_pb2.HealthCheckRequest())
        assert check.status == SERVING


async def test_waiting_for_a_server_ends_when_it_comes() -> None:
    async with open_server([servicer()], LOOPBACK, FAST, status_of=status_of) as server:
        address = server.address
    waiting = asyncio.create_task(wait_until_serving(address, SERVICE_NAME, timeout_s=10))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    async with open_server([servicer()], address, FAST, status_of=status_of):
        await waiting


async def test_waiting_for_a_server_that_does_not_come_names_it() -> None:
    with pytest.raises(BackendUnavailable, match=r"127\.0\.0\.1:1 did not report .* within 0\.3 s"):
        await wait_until_serving("127.0.0.1:1", SERVICE_NAME, timeout_s=0.3)


async def test_a_port_in_use_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    async with open_server([servicer()], LOOPBACK, FAST, status_of=status_of) as server:
        with pytest.raises(AlreadyExists, match=f"something listens at {server.address} already"):
            async with open_server([servicer()], server.address, FAST, status_of=status_of):
                pass
    assert "bind" not in capfd.readouterr().err


@pytest.mark.parametrize("address", ["", "localhost", "localhost:", "localhost:x", "h:70000"])
async def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        async with open_server([], address, FAST, status_of=status_of):
            pass
    assert [violation.field for violation in caught.value.violations] == ["address"]


async def test_a_server_can_listen_on_a_unix_socket(tmp_path) -> None:  # type: ignore[no-untyped-def]
    address = f"unix:{tmp_path}/socket"
    async with open_server([servicer()], address, FAST, status_of=status_of) as server:
        assert server.target == address
        await wait_until_serving(server.target, SERVICE_NAME, timeout_s=5)


async def test_a_call_under_way_may_end_when_the_server_stops() -> None:
    slow = servicer(delay_s=0.1)
    settings = ServiceSettings(stop_grace_s=5)
    ended = []

    async def generate(target: str) -> None:
        async with open_channel(target) as channel:
            async for event in RemoteGenerator(channel, target).generate(GenerateRequest("a")):
                ended.append(event)

    async with open_server([slow], LOOPBACK, settings, status_of=status_of) as server:
        calling = asyncio.create_task(generate(server.target))
        await asyncio.sleep(0.2)
    await calling
    assert isinstance(ended[-1], GenerationEnd)


async def test_a_server_drains_before_it_stops_and_watchers_do_not_hold_it_up() -> None:
    settings = ServiceSettings(drain_s=0.3, stop_grace_s=30)
    began = time.monotonic()
    told = []

    async def watch(target: str) -> None:
        async with open_channel(target) as channel:
            request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
            async for response in health_pb2_grpc.HealthStub(channel).Watch(request):
                told.append(response.status)
                if response.status == NOT_SERVING:
                    # Still served: the balancers may not know yet.
                    await RemoteGenerator(channel, target).describe_model()

    async with open_server([servicer()], LOOPBACK, settings, status_of=status_of) as server:
        watching = asyncio.create_task(watch(server.target))
        await wait_until_serving(server.target, SERVICE_NAME, timeout_s=5)
        await asyncio.sleep(0.05)
    await watching
    assert told == [SERVING, NOT_SERVING]
    assert 0.3 < time.monotonic() - began < 5


async def test_a_channel_leaves_out_a_service_that_is_not_ready() -> None:
    once = ChannelSettings(attempts=1)
    async with (
        open_server([servicer()], LOOPBACK, FAST, status_of=status_of) as server,
        open_channel(server.target, service=SERVICE_NAME, settings=once) as channel,
    ):
        generator = RemoteGenerator(channel, server.target)
        await generator.describe_model()
        server.health.set_serving(SERVICE_NAME, False)
        await asyncio.sleep(0.2)
        with pytest.raises(BackendUnavailable):
            await generator.describe_model()
        server.health.set_serving(SERVICE_NAME, True)
        await asyncio.sleep(0.2)
        await generator.describe_model()
