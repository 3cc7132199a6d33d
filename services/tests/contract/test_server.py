import asyncio
import itertools
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from scaar.core.errors import AlreadyExists, BackendUnavailable, InvalidRequest
from scaar.core.types import GenerateRequest, GenerationEnd
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.health import wait_until_serving
from scaar.runtime.server import open_server, server_options
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import ScriptedGenerator
from scaar.testing.sockets import serving
from scaar.v1 import generator_pb2
from scaar.wire.generator import SERVICE_NAME, GeneratorServicer, RemoteGenerator
from scaar.wire.status import status_of

REQUEST = GenerateRequest("a")
LOOPBACK = "127.0.0.1:0"
FAST = ServiceSettings(stop_grace_s=0)
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def servicer(delay_s: float = 0.0) -> GeneratorServicer:
    return GeneratorServicer(ScriptedGenerator({"a": [(" x", -0.1)] * 5}, delay_s=delay_s))


async def reflected(
    channel: grpc.aio.Channel, version: str = "v1", **request: str
) -> reflection_pb2.ServerReflectionResponse:
    """The response of a version of reflection; both have the same messages on the wire."""
    call = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )([reflection_pb2.ServerReflectionRequest(**request)])
    # Passed as an iterable: `write` on a call that the server has refused raises no status.
    return await anext(aiter(call))


async def reflected_services(channel: grpc.aio.Channel, version: str = "v1") -> list[str]:
    response = await reflected(channel, version, list_services="")
    return [service.name for service in response.list_services_response.service]


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_reflection_lists_the_services(version: str) -> None:
    async with serving(servicer()) as (channel, _):
        assert await reflected_services(channel, version) == [
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection",
            "scaar.v1.GeneratorService",
        ]


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_every_listed_service_is_described_from_its_files_alone(version: str) -> None:
    async with serving(servicer()) as (channel, _):
        for name in await reflected_services(channel, version):
            found = await reflected(channel, version, file_containing_symbol=name)
            files = [
                descriptor_pb2.FileDescriptorProto.FromString(each)
                for each in found.file_descriptor_response.file_descriptor_proto
            ]
            pool = descriptor_pool.DescriptorPool()
            for file in reversed(files):
                pool.Add(file)
            service = pool.FindServiceByName(name)
            assert service.methods


async def test_reflection_names_the_fields_as_json_has_them() -> None:
    async with serving(servicer()) as (channel, _):
        found = await reflected(channel, file_containing_symbol=SERVICE_NAME)
    names = {
        (message.name, field.name): field.json_name
        for each in found.file_descriptor_response.file_descriptor_proto
        for message in descriptor_pb2.FileDescriptorProto.FromString(each).message_type
        for field in message.field
    }
    assert names["GenerateRequest", "max_tokens"] == "maxTokens"
    assert names["GenerateRequest", "prefix_token_ids"] == "prefixTokenIds"
    assert all(names.values())
    message = generator_pb2.GenerateRequest(prefix_token_ids=[1], max_tokens=2)
    assert set(json_format.MessageToDict(message)) == {"prefixTokenIds", "maxTokens"}


async def test_reflection_can_be_disabled() -> None:
    settings = ServiceSettings(reflection=False, stop_grace_s=0)
    async with serving(servicer(), settings) as (channel, _):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await reflected_services(channel)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("service", ["", SERVICE_NAME])
async def test_the_process_and_its_service_report_serving(service: str) -> None:
    async with serving(servicer()) as (channel, target):
        request = health_pb2.HealthCheckRequest(service=service)
        assert (await health_pb2_grpc.HealthStub(channel).Check(request)).status == SERVING
        await wait_until_serving(target, service, timeout_s=5)


async def test_an_unknown_service_is_not_found() -> None:
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


async def test_waiting_for_a_server_ends_when_it_starts() -> None:
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


async def test_a_port_in_use_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    async with open_server([servicer()], LOOPBACK, FAST, status_of=status_of) as server:
        with pytest.raises(AlreadyExists, match=f"address {server.address} is already in use"):
            async with open_server([servicer()], server.address, FAST, status_of=status_of):
                pass
    assert "bind" not in capfd.readouterr().err


@pytest.mark.parametrize("address", ["", "localhost", "localhost:", "localhost:x", "h:70000"])
async def test_an_invalid_address_is_rejected(address: str) -> None:
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
    reported = []

    async def watch(target: str) -> None:
        async with open_channel(target) as channel:
            request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
            async for response in health_pb2_grpc.HealthStub(channel).Watch(request):
                reported.append(response.status)
                if response.status == NOT_SERVING:
                    # Still served: the balancers may not know yet.
                    await RemoteGenerator(channel, target).describe_model()

    async with open_server([servicer()], LOOPBACK, settings, status_of=status_of) as server:
        watching = asyncio.create_task(watch(server.target))
        await wait_until_serving(server.target, SERVICE_NAME, timeout_s=5)
        await asyncio.sleep(0.05)
    await watching
    assert reported == [SERVING, NOT_SERVING]
    assert 0.3 < time.monotonic() - began < 5


async def test_a_channel_leaves_out_a_service_that_is_not_ready_while_another_is() -> None:
    once, served = ChannelSettings(attempts=1), list[str]()

    class Counting(GeneratorServicer):
        def __init__(self, name: str) -> None:
            super().__init__(ScriptedGenerator({}))
            self.name = name

        async def DescribeModel(self, request: Any, context: Any) -> Any:  # noqa: N802
            served.append(self.name)
            return await super().DescribeModel(request, context)

    async with (
        open_server([Counting("a")], LOOPBACK, FAST, status_of=status_of) as first,
        open_server([Counting("b")], LOOPBACK, FAST, status_of=status_of) as second,
        open_channel(
            f"ipv4:{first.target},{second.target}", service=SERVICE_NAME, settings=once
        ) as channel,
        asyncio.timeout(30),
    ):
        generator = RemoteGenerator(channel, "both")
        while set(served) != {"a", "b"}:
            await generator.describe_model()
        first.health.set_serving(SERVICE_NAME, False)
        while set(served[-10:]) != {"b"}:
            await generator.describe_model()
        first.health.set_serving(SERVICE_NAME, True)
        while "a" not in served[-10:]:
            await generator.describe_model()


async def test_a_connection_past_its_age_is_replaced_without_a_failed_call() -> None:
    peers = set[str]()

    class Telling(GeneratorServicer):
        async def DescribeModel(self, request: Any, context: Any) -> Any:  # noqa: N802
            peers.add(context.peer())
            return await super().DescribeModel(request, context)

    settings = ServiceSettings(max_connection_age_s=0.2, stop_grace_s=0)
    once = ChannelSettings(attempts=1)
    async with (
        open_server(
            [Telling(ScriptedGenerator({}))], LOOPBACK, settings, status_of=status_of
        ) as server,
        open_channel(server.target, settings=once) as channel,
        asyncio.timeout(30),
    ):
        generator = RemoteGenerator(channel, server.target)

        async def ask() -> None:
            while len(peers) < 5:
                await generator.describe_model()

        # Some calls are always in progress, and none is retried.
        await asyncio.gather(*(ask() for _ in range(4)))


async def test_a_stream_outlives_its_connections_age() -> None:
    settings = ServiceSettings(max_connection_age_s=0.1, stop_grace_s=0)
    async with serving(servicer(delay_s=0.2), settings) as (channel, target):
        events = [each async for each in RemoteGenerator(channel, target).generate(REQUEST)]
    assert isinstance(events[-1], GenerationEnd)


def test_a_server_applies_the_connection_limits_of_its_settings() -> None:
    settings = ServiceSettings(
        max_connection_age_s=10, max_call_s=60, keepalive_s=20, keepalive_timeout_s=5
    )
    options = dict(server_options(settings))
    assert options["grpc.max_connection_age_ms"] == 10_000
    # Longer than the longest call.
    assert options["grpc.max_connection_age_grace_ms"] == 61_000
    assert options["grpc.keepalive_time_ms"] == 20_000
    assert options["grpc.keepalive_timeout_ms"] == 5_000
    assert options["grpc.http2.min_ping_interval_without_data_ms"] == 30_000


async def test_a_slow_client_delays_only_its_own_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    word = " word" * 200
    engine = ScriptedGenerator(lambda request: itertools.repeat((word, -0.1)), delay_s=0.0)
    made = 0

    class Counting(ScriptedGenerator):
        async def generate(self, request: GenerateRequest) -> AsyncGenerator[Any, None]:
            nonlocal made
            async for event in engine.generate(request):
                made += 1
                yield event

    async with serving(GeneratorServicer(Counting({}))) as (channel, target):
        slow = RemoteGenerator(channel, target)
        ahead = []
        endless = GenerateRequest("a", max_tokens=1_000_000)
        async with aclosing(slow.generate(endless)) as events:
            for read in range(1, 9):
                await anext(events)
                before = -1
                while made > before:
                    # Made until nothing more is taken from it.
                    before = made
                    for _ in range(20):
                        await slow.describe_model()
                ahead.append(made - read)
        # The data in flight is one HTTP/2 window, whatever the stream's length, and it advances
        # as the client reads.
        assert ahead[0] * len(word) < 16 * 1024 * 1024
        assert max(ahead) <= ahead[0] + 8
        assert made < endless.max_tokens / 10
    # That it left in the middle of a message is no failure of the server's.
    assert not caplog.records


async def test_a_request_that_is_compressed_is_refused_before_it_is_inflated() -> None:
    async with serving(servicer()) as (channel, _):
        call = channel.unary_stream("/scaar.v1.GeneratorService/Generate")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            async for _ in call(b"\0" * 1_000_000, compression=grpc.Compression.Gzip):
                pass
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "gzip" in (caught.value.details() or "")


async def test_a_request_too_large_to_be_read_is_the_callers_mistake() -> None:
    async with serving(servicer()) as (channel, target):
        remote = RemoteGenerator(channel, target)
        with pytest.raises(InvalidRequest, match="too large"):
            async for _ in remote.generate(GenerateRequest("x" * 5_000_000)):
                pass
