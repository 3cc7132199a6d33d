"""A service's name is its readiness: it follows what the service cannot do without, both ways."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.compose import EMBEDDED, needs_of, open_answerer, open_ports
from scaar.core.errors import BackendUnavailable
from scaar.core.loop.loop import AdaptiveLoop
from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime import probe, readiness
from scaar.runtime.channels import open_channel
from scaar.runtime.health_server import HealthServicer
from scaar.runtime.readiness import Need
from scaar.runtime.server import RunningServer, Servicer, open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.commands import run_scaar
from scaar.testing.fakes import ScriptedGenerator
from scaar.testing.ports import free_port
from scaar.wire import generator, orchestrator, query_builder
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
FAST = ServiceSettings(stop_grace_s=0)
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is needed counts as lost soon."""
    monkeypatch.setattr(readiness, "READY_WAIT_S", 0.2)


@asynccontextmanager
async def generating(address: str = LOOPBACK) -> AsyncIterator[RunningServer]:
    servicer = generator.GeneratorServicer(ScriptedGenerator({}))
    async with open_server([servicer], address, FAST, status_of=status_of) as server:
        yield server


@asynccontextmanager
async def needing(needs: Sequence[Need]) -> AsyncIterator[RunningServer]:
    """A service that needs others."""
    servicer: Servicer = query_builder.QueryBuilderServicer(LocalQueryBuilder())
    async with open_server([servicer], LOOPBACK, FAST, status_of=status_of, needs=needs) as server:
        yield server


def on(server: RunningServer) -> Need:
    return Need(f"dns:///{server.address}", generator.SERVICE_NAME)


@dataclass(frozen=True, slots=True)
class Watch:
    """Watches of a service's readiness and of its process's liveness."""

    stub: Any
    call: Any

    async def ready(self) -> int:
        """Return the next status."""
        async with asyncio.timeout(10):
            return int((await self.call.read()).status)

    async def alive(self) -> int:
        return int((await self.stub.Check(health_pb2.HealthCheckRequest())).status)


@asynccontextmanager
async def watching(server: RunningServer, service: str) -> AsyncIterator[Watch]:
    async with open_channel(server.target) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        call = stub.Watch(health_pb2.HealthCheckRequest(service=service))
        yield Watch(stub, call)
        call.cancel()


async def test_readiness_follows_the_services_that_are_needed() -> None:
    async with generating(f"127.0.0.1:{free_port()}") as gone:
        need = on(gone)
    async with (
        needing([need]) as server,
        watching(server, query_builder.SERVICE_NAME) as watch,
    ):
        assert await watch.ready() == NOT_SERVING
        for _ in range(2):
            async with generating(gone.address):
                assert await watch.ready() == SERVING
                assert await watch.alive() == SERVING
            assert await watch.ready() == NOT_SERVING
            assert await watch.alive() == SERVING


async def test_a_service_follows_the_readiness_of_what_it_needs() -> None:
    async with (
        generating() as needed,
        needing([on(needed)]) as server,
        watching(server, query_builder.SERVICE_NAME) as watch,
    ):
        if await watch.ready() == NOT_SERVING:
            assert await watch.ready() == SERVING
        for _ in range(3):
            needed.health.set_serving(generator.SERVICE_NAME, False)
            assert await watch.ready() == NOT_SERVING
            needed.health.set_serving(generator.SERVICE_NAME, True)
            assert await watch.ready() == SERVING
        assert await watch.alive() == SERVING


async def test_a_service_needs_all_that_it_needs() -> None:
    async with (
        generating() as first,
        generating() as second,
        needing([on(first), on(second)]) as server,
        watching(server, query_builder.SERVICE_NAME) as watch,
    ):
        if await watch.ready() == NOT_SERVING:
            assert await watch.ready() == SERVING
        second.health.set_serving(generator.SERVICE_NAME, False)
        assert await watch.ready() == NOT_SERVING
        first.health.set_serving(generator.SERVICE_NAME, False)
        second.health.set_serving(generator.SERVICE_NAME, True)
        first.health.set_serving(generator.SERVICE_NAME, True)
        assert await watch.ready() == SERVING


async def test_a_service_without_needs_is_ready_immediately() -> None:
    async with (
        needing([]) as server,
        watching(server, query_builder.SERVICE_NAME) as watch,
    ):
        assert await watch.ready() == SERVING


async def test_a_service_that_stops_is_not_ready_whatever_what_it_needs_does() -> None:
    draining = ServiceSettings(drain_s=0.5, stop_grace_s=10)
    servicer = query_builder.QueryBuilderServicer(LocalQueryBuilder())
    async with generating() as needed:
        stopping = open_server(
            [servicer], LOOPBACK, draining, status_of=status_of, needs=[on(needed)]
        )
        server = await stopping.__aenter__()
        async with watching(server, query_builder.SERVICE_NAME) as watch:
            if await watch.ready() == NOT_SERVING:
                assert await watch.ready() == SERVING
            ending = asyncio.create_task(stopping.__aexit__(None, None, None))
            assert await watch.ready() == NOT_SERVING
            needed.health.set_serving(generator.SERVICE_NAME, False)
            needed.health.set_serving(generator.SERVICE_NAME, True)
            # The watch ends without another report.
            assert await watch.call.read() == grpc.aio.EOF  # type: ignore[attr-defined]
            await ending


async def test_connections_that_are_made_again_slowly_change_no_readiness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Delay the health of each new connection, as on a back end short of CPU."""
    monkeypatch.setattr(readiness, "READY_WAIT_S", 10.0)
    watch, watches = HealthServicer.Watch, 0

    async def late(self: HealthServicer, request: Any, context: Any) -> AsyncIterator[Any]:
        nonlocal watches
        watches += 1
        await asyncio.sleep(0.2)
        async for each in watch(self, request, context):
            yield each

    monkeypatch.setattr(HealthServicer, "Watch", late)
    aging = ServiceSettings(stop_grace_s=0, max_connection_age_s=0.3)
    servicer = generator.GeneratorServicer(ScriptedGenerator({}))
    reported: list[bool] = []
    async with (
        open_server([servicer], LOOPBACK, aging, status_of=status_of) as server,
        readiness.watch_readiness([on(server)], reported.append),
        asyncio.timeout(30),
    ):
        while watches < 4:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert reported == [False, True]


def test_an_orchestrator_needs_its_generator_and_query_builder_and_nothing_embedded() -> None:
    assert needs_of(OrchestratorSettings()) == ()
    targets = {
        f"{name}_target": f"dns:///{name}:1"
        for name in ("generator", "scorer", "query_builder", "retriever")
    }
    assert needs_of(OrchestratorSettings(**targets)) == (  # type: ignore[arg-type]
        Need("dns:///generator:1", "scaar.v1.GeneratorService"),
        Need("dns:///query_builder:1", "scaar.v1.QueryBuilderService"),
    )


async def test_doctor_reports_a_service_that_is_running_but_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    settings = OrchestratorSettings(generator_target="dns:///127.0.0.1:1")
    async with open_ports(settings) as ports:
        servicer = orchestrator.OrchestratorServicer(AdaptiveLoop(ports, default_index="lab"))
        async with open_server(
            [servicer], LOOPBACK, FAST, status_of=status_of, needs=needs_of(settings)
        ) as server:
            ran = await asyncio.to_thread(run_scaar, "doctor", "--address", server.target)
    reported = f"{server.target} is running, but scaar.v1.OrchestratorService is not ready"
    assert f"✗ orchestrator: {reported}\n" in ran.out
    assert "generator and query-builder" in ran.out
    assert ran.out.count("✗") == ran.status == 1


async def test_an_orchestrator_that_is_not_ready_names_the_missing_service() -> None:
    nowhere = "dns:///127.0.0.1:1"
    settings = OrchestratorSettings(
        generator_target=nowhere, scorer_target=nowhere, retriever_target=nowhere
    )
    async with (
        open_ports(settings) as ports,
        open_server(
            [orchestrator.OrchestratorServicer(AdaptiveLoop(ports, default_index="lab"))],
            LOOPBACK,
            FAST,
            status_of=status_of,
            needs=needs_of(settings),
        ) as server,
        open_answerer(server.target) as answerer,
    ):
        request = AnswerRequest("Who?", PolicyRequest("no_retrieval"))
        with pytest.raises(BackendUnavailable, match=f"^{nowhere} does not answer") as caught:
            async with aclosing(answerer.stream_answer(request)) as events:
                assert [event async for event in events]
    assert caught.value.metadata == {"target": nowhere}
    assert settings.query_builder_target == EMBEDDED


async def test_the_status_of_the_probe_reports_whether_a_server_is_serving(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = Need("dns:///127.0.0.1:1", generator.SERVICE_NAME)
    async with needing([nobody]) as server:
        assert await asyncio.to_thread(probe.main, [server.address]) == 0
        monkeypatch.setattr(probe, "TIMEOUT_S", 0.5)
        requested = [server.address, query_builder.SERVICE_NAME]
        assert await asyncio.to_thread(probe.main, requested) == 1
    reported = f"did not report {query_builder.SERVICE_NAME} as SERVING within 0.5 s"
    assert reported in capsys.readouterr().err
    assert await asyncio.to_thread(probe.main, [server.address]) == 1
    assert probe.main([]) == 2
    assert "usage:" in capsys.readouterr().err
