"""Calls that find no ready server, over real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from scaar import compose
from scaar.core.calls.breaker import BreakerLimits
from scaar.core.calls.breakers import Breakers
from scaar.core.errors import BackendUnavailable
from scaar.core.types import GenerateRequest, Query, QueryRequest, QuerySettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime import failover
from scaar.runtime.channels import open_channel
from scaar.runtime.server import RunningServer, Servicer, open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import ScriptedGenerator
from scaar.wire import generator, query_builder
from scaar.wire.status import status_of

REQUEST = QueryRequest("Who is it?", QuerySettings("question", include_question=False))
BUILDER = query_builder.SERVICE_NAME
SETTINGS = ServiceSettings(stop_grace_s=0)


class CountingBuilder(LocalQueryBuilder):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    async def build_query(self, request: QueryRequest) -> Query:
        self.calls += 1
        return await super().build_query(request)


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return f"127.0.0.1:{found.getsockname()[1]}"


@asynccontextmanager
async def serving(address: str, servicer: Servicer) -> AsyncIterator[RunningServer]:
    async with open_server([servicer], address, SETTINGS, status_of=status_of) as server:
        yield server


def building(builder: LocalQueryBuilder | None = None) -> Servicer:
    return query_builder.QueryBuilderServicer(builder or LocalQueryBuilder())


def generating() -> Servicer:
    return generator.GeneratorServicer(ScriptedGenerator({"a": [(" x", -0.1)]}))


async def test_calls_wait_for_a_server_that_was_lost() -> None:
    address = free_address()
    async with open_channel(address, service=BUILDER) as channel:
        client = query_builder.RemoteQueryBuilder(channel, address)
        async with serving(address, building()):
            await client.build_query(REQUEST)
        calls = [asyncio.create_task(client.build_query(REQUEST)) for _ in range(20)]
        # Longer than the attempts of the channel itself.
        await asyncio.sleep(1)
        assert not any(call.done() for call in calls)
        async with serving(address, building()):
            found = await asyncio.gather(*calls)
    assert [each.text for each in found] == ["Who is it?"] * 20


async def test_streams_wait_for_a_server_that_was_lost() -> None:
    address = free_address()
    async with open_channel(address, service=generator.SERVICE_NAME) as channel:
        client = generator.RemoteGenerator(channel, address)

        async def generated() -> int:
            async with aclosing(client.generate(GenerateRequest("a"))) as events:
                return len([each async for each in events])

        async with serving(address, generating()):
            whole = await generated()
        call = asyncio.create_task(generated())
        await asyncio.sleep(1)
        assert not call.done()
        async with serving(address, generating()):
            assert await call == whole


async def test_a_draining_server_is_called_while_no_other_is_ready() -> None:
    first, second = CountingBuilder(), CountingBuilder()
    async with (
        serving("127.0.0.1:0", building(first)) as draining,
        serving("127.0.0.1:0", building(second)) as other,
        open_channel(f"ipv4:{draining.address},{other.address}", service=BUILDER) as channel,
    ):
        client = query_builder.RemoteQueryBuilder(channel, "both")
        draining.health.set_serving(BUILDER, False)
        # The second address may be found ready only after the first call.
        async with asyncio.timeout(30):
            while second.calls == 0:
                await client.build_query(REQUEST)
        before = first.calls
        for _ in range(10):
            await client.build_query(REQUEST)
        assert first.calls == before
        other.health.set_serving(BUILDER, False)
        for _ in range(10):
            await client.build_query(REQUEST)
    assert first.calls > before


async def test_a_service_that_stays_away_fails_calls_after_the_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failover, "READY_WAIT_S", 0.2)
    address = free_address()
    async with open_channel(address, service=BUILDER) as channel:
        client = query_builder.RemoteQueryBuilder(channel, address)
        async with serving(address, building()):
            await client.build_query(REQUEST)
        for _ in range(2):
            with pytest.raises(BackendUnavailable, match=f"^{address} does not answer"):
                await client.build_query(REQUEST)


async def test_a_call_waits_at_most_until_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failover, "READY_WAIT_S", 3600.0)
    address = free_address()
    async with open_channel(address, service=BUILDER) as channel:
        client = query_builder.RemoteQueryBuilder(channel, address, timeout_s=1.0)
        async with serving(address, building()):
            await client.build_query(REQUEST)
        async with asyncio.timeout(30):
            with pytest.raises(BackendUnavailable):
                await client.build_query(REQUEST)


async def test_a_breaker_closes_as_soon_as_a_lost_service_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failover, "READY_WAIT_S", 0.05)
    address = free_address()
    hour = BreakerLimits(failures=3, open_s=3600.0, max_open_s=3600.0)
    async with compose.open_query_builder(address, breakers=Breakers(hour)) as client:
        async with serving(address, building()):
            await client.build_query(REQUEST)
        for message in ("does not answer",) * 3 + ("is not called",) * 3:
            with pytest.raises(BackendUnavailable, match=message):
                await client.build_query(REQUEST)
        async with serving(address, building()), asyncio.timeout(30):
            while True:
                try:
                    await client.build_query(REQUEST)
                except BackendUnavailable:
                    await asyncio.sleep(0.05)
                else:
                    break
