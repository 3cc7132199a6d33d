"""Admission: a server runs a limited number of concurrent calls and refuses the others."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.errors import BackendUnavailable, Overloaded
from scaar.core.types import FinishReason, GenerateRequest, GenerationEnd, GenerationEvent, Token
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.server import RunningServer, open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import ScriptedGenerator
from scaar.wire.generator import SERVICE_NAME, GeneratorServicer, RemoteGenerator
from scaar.wire.status import status_of

PLACES, CALLS = 8, 200
SETTINGS = ServiceSettings(max_concurrent_calls=PLACES, stop_grace_s=0)
REQUEST = GenerateRequest("a")
SERVING = health_pb2.HealthCheckResponse.SERVING


class Gated(ScriptedGenerator):
    """Writes a token, and its end when the gate is open; ``most`` were running at a time."""

    def __init__(self) -> None:
        super().__init__({})
        self.gate = asyncio.Event()
        self.most = 0

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        self.opened += 1
        self.most = max(self.most, self.opened - self.closed)
        try:
            yield Token(1, " x", 0, 2, -0.1)
            await self.gate.wait()
            yield GenerationEnd(FinishReason.STOP, 1, 1)
        finally:
            self.closed += 1


@asynccontextmanager
async def running(
    engine: ScriptedGenerator,
) -> AsyncIterator[tuple[RunningServer, RemoteGenerator]]:
    once = ChannelSettings(attempts=1)
    async with (
        open_server(
            [GeneratorServicer(engine)], "127.0.0.1:0", SETTINGS, status_of=status_of
        ) as server,
        open_channel(server.target, settings=once) as channel,
    ):
        yield server, RemoteGenerator(channel, server.target)


async def generate(generator: RemoteGenerator) -> int:
    """How many events came."""
    async with aclosing(generator.generate(REQUEST)) as events:
        return len([event async for event in events])


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def kinds(results: list[Any]) -> Counter[Any]:
    return Counter(type(each) if isinstance(each, BaseException) else each for each in results)


async def test_of_200_concurrent_calls_at_most_8_run_and_the_others_are_rejected() -> None:
    engine = Gated()
    async with running(engine) as (server, generator):
        calls = [asyncio.create_task(generate(generator)) for _ in range(CALLS)]
        # The refused are answered while every place is taken.
        await until(lambda: sum(call.done() for call in calls) == CALLS - PLACES)
        assert engine.opened == server.admission.in_progress == PLACES
        engine.gate.set()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert kinds(results) == {2: PLACES, Overloaded: CALLS - PLACES}
        assert engine.most == PLACES
        await until(lambda: server.admission.in_progress == 0)
        again = await asyncio.gather(*(generate(generator) for _ in range(PLACES)))
        assert again == [2] * PLACES


async def test_rejected_calls_get_a_retry_delay() -> None:
    engine = Gated()
    async with running(engine) as (_, generator):
        calls = [asyncio.create_task(generate(generator)) for _ in range(PLACES)]
        await until(lambda: engine.opened == PLACES)
        with pytest.raises(Overloaded) as caught:
            await generator.describe_model()
        engine.gate.set()
        await asyncio.gather(*calls)
    cause = caught.value.__cause__
    assert isinstance(cause, grpc.aio.AioRpcError)
    assert cause.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    metadata = dict(cause.trailing_metadata() or ())
    reported, retry = Status.FromString(metadata["grpc-status-details-bin"]), RetryInfo()
    assert any(detail.Unpack(retry) for detail in reported.details)
    assert retry.retry_delay.ToNanoseconds() / 1e9 == caught.value.retry_after_s > 0


async def test_disconnecting_clients_release_their_places() -> None:
    engine = Gated()
    async with running(engine) as (server, generator):
        calls = [asyncio.create_task(generate(generator)) for _ in range(CALLS)]
        for number, call in enumerate(calls):
            # Some before they start, some after they were admitted, some already refused.
            if number % 2:
                call.cancel()
                await asyncio.sleep(0)
        results = []
        await until(lambda: sum(call.done() for call in calls) >= CALLS - PLACES)
        engine.gate.set()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert set(kinds(results)) <= {2, Overloaded, asyncio.CancelledError}
        assert kinds(results)[asyncio.CancelledError] >= 1
        assert engine.most <= PLACES
        await until(lambda: server.admission.in_progress == 0 and engine.opened == engine.closed)
        again = await asyncio.gather(*(generate(generator) for _ in range(PLACES)))
        assert again == [2] * PLACES


async def test_failing_calls_release_their_places() -> None:
    engine = ScriptedGenerator(lambda request: [(" x", -0.1), BackendUnavailable("gone")])
    async with running(engine) as (server, generator):
        for _ in range(3 * PLACES):
            with pytest.raises(BackendUnavailable, match="gone"):
                await generate(generator)
        await until(lambda: server.admission.in_progress == 0)


async def test_a_full_server_reports_health_and_watches_need_no_slot() -> None:
    engine = Gated()
    async with running(engine) as (server, generator), open_channel(server.target) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
        watches = [stub.Watch(request) for _ in range(2 * PLACES)]
        for watch in watches:
            assert (await watch.read()).status == SERVING
        calls = [asyncio.create_task(generate(generator)) for _ in range(PLACES)]
        await until(lambda: engine.opened == PLACES)
        assert (await stub.Check(request)).status == SERVING
        engine.gate.set()
        assert await asyncio.gather(*calls) == [2] * PLACES


async def test_a_request_is_refused_before_it_is_decoded() -> None:
    engine = Gated()
    async with running(engine) as (server, generator), open_channel(server.target) as channel:
        calls = [asyncio.create_task(generate(generator)) for _ in range(PLACES)]
        await until(lambda: engine.opened == PLACES)
        attend: Any = channel.unary_unary(f"/{SERVICE_NAME}/Attend")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await attend(b"\xff\xff\xff")
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        engine.gate.set()
        await asyncio.gather(*calls)
