"""Channels whose certificates are renewed while they are in use, on real sockets."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar import compose
from scaar.client import open_client
from scaar.core.types import (
    GenerateRequest,
    GenerationEvent,
    GenerationStart,
    QueryRequest,
    QuerySettings,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.channel_tls import channel_credentials
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.health import wait_until_serving
from scaar.runtime.readiness import Need
from scaar.runtime.renewing_channel import CredentialsSource
from scaar.runtime.server import RunningServer, Servicer, open_server
from scaar.runtime.settings import ServiceSettings
from scaar.runtime.tls import TlsFiles
from scaar.testing.certificates import Authority, Issued
from scaar.testing.fakes import ScriptedGenerator
from scaar.testing.steady_answerer import SteadyAnswerer
from scaar.wire import generator as generator_wire
from scaar.wire.generator import GeneratorServicer, RemoteGenerator
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.query_builder import SERVICE_NAME, QueryBuilderServicer, RemoteQueryBuilder
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
ONCE = ChannelSettings(attempts=1)
REQUEST = QueryRequest("Who is it?", QuerySettings("question", include_question=False))


class Deployed:
    """The files of a server and of its client, each known to the other by one authority."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca = folder / "ca.pem"
        self.server = Issued(folder / "server.pem", folder / "server.key")
        self.client = Issued(folder / "client.pem", folder / "client.key")
        self.authority = self.other_authority()

    def other_authority(self) -> Authority:
        """One that nobody knew, which has issued every file from now on."""
        count = len(list(self.folder.glob("authority-*")))
        self.authority = Authority(self.folder / f"authority-{count}")
        self.ca.write_bytes(self.authority.ca.read_bytes())
        copy(self.authority.issue(), self.server)
        copy(self.authority.issue("client"), self.client)
        return self.authority

    def credentials(self) -> CredentialsSource:
        return channel_credentials(TlsFiles("X_", self.ca, self.client.cert, self.client.key))

    @asynccontextmanager
    async def serving(
        self, servicer: Servicer, address: str = LOOPBACK
    ) -> AsyncIterator[RunningServer]:
        settings = ServiceSettings(
            tls_cert_file=self.server.cert,
            tls_key_file=self.server.key,
            tls_client_ca_file=self.ca,
            stop_grace_s=0.0,
        )
        async with open_server([servicer], address, settings, status_of=status_of) as server:
            yield server


class Seeing(QueryBuilderServicer):
    """Keeps the certificate that each call was made by."""

    def __init__(self) -> None:
        super().__init__(LocalQueryBuilder())
        self.shown: list[bytes] = []

    async def BuildQuery(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.shown.append(context.auth_context()["x509_pem_cert"][0])
        return await super().BuildQuery(request, context)


class Held(ScriptedGenerator):
    """Generates the rest of its text only once it is released."""

    def __init__(self) -> None:
        super().__init__({"a": [(f" {count}", -0.1) for count in range(100)]})
        self.let = asyncio.Event()

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event
                if isinstance(event, GenerationStart):
                    await self.let.wait()


@pytest.fixture
def deployed(tmp_path: Path) -> Deployed:
    return Deployed(tmp_path)


def copy(issued: Issued, to: Issued) -> None:
    to.key.write_bytes(issued.key.read_bytes())
    to.cert.write_bytes(issued.cert.read_bytes())


@asynccontextmanager
async def connected(
    server: RunningServer, deployed: Deployed, service: str = ""
) -> AsyncIterator[grpc.aio.Channel]:
    async with open_channel(
        server.target, service=service, settings=ONCE, credentials=deployed.credentials()
    ) as channel:
        yield channel


async def ask_for(channel: grpc.aio.Channel) -> str:
    return (await RemoteQueryBuilder(channel, "builder").build_query(REQUEST)).text


def connections(server: RunningServer) -> int:
    """How many there are to the server, by the kernel's count."""
    port = f":{int(server.address.rpartition(':')[2]):04X}"
    tables = [Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    # A table that changes while it is read can have a row twice.
    return len(
        {
            (local, remote)
            for _, local, remote, state, *_ in rows
            if remote.endswith(port) and state == "01"
        }
    )


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_not_serving(target: str, service: str) -> None:
    request = health_pb2.HealthCheckRequest(service=service)
    async with asyncio.timeout(20), open_channel(target) as channel:
        async for response in health_pb2_grpc.HealthStub(channel).Watch(request):
            if response.status == health_pb2.HealthCheckResponse.NOT_SERVING:
                return


async def test_calls_continue_when_both_sides_change_their_authority(deployed: Deployed) -> None:
    seeing = Seeing()
    async with deployed.serving(seeing) as server, connected(server, deployed) as channel:
        for _ in range(3):
            assert await ask_for(channel) == "Who is it?"
            assert await ask_for(channel) == "Who is it?"
            shown = deployed.client.cert.read_bytes()
            assert [each.strip() for each in seeing.shown[-2:]] == [shown.strip()] * 2
            deployed.other_authority()
    assert len(set(seeing.shown)) == 3


async def test_a_stream_continues_across_a_renewal_and_its_connection_ends_with_it(
    deployed: Deployed,
) -> None:
    held = Held()
    async with (
        deployed.serving(GeneratorServicer(held)) as server,
        connected(server, deployed) as channel,
    ):
        generator = RemoteGenerator(channel, "generator")
        events = generator.generate(GenerateRequest("a"))
        received = [await anext(events)]
        deployed.other_authority()
        await generator.describe_model()
        await until(lambda: connections(server) == 2)
        held.let.set()
        received += [event async for event in events]
        assert len(received) == 102
        await until(lambda: connections(server) == 1)
        await generator.describe_model()
        assert connections(server) == 1


async def test_a_slow_reader_gets_the_rest_of_its_stream(deployed: Deployed) -> None:
    held = Held()
    held.let.set()
    async with (
        deployed.serving(GeneratorServicer(held)) as server,
        connected(server, deployed) as channel,
    ):
        generator = RemoteGenerator(channel, "generator")
        events = generator.generate(GenerateRequest("a"))
        received = [await anext(events)]
        await until(lambda: held.closed == 1)
        deployed.other_authority()
        await generator.describe_model()
        async for event in events:
            received.append(event)
            await asyncio.sleep(0.001)
        assert len(received) == 102
        await until(lambda: connections(server) == 1)


async def test_no_call_fails_while_certificates_are_renewed(deployed: Deployed) -> None:
    seeing = Seeing()
    async with (
        deployed.serving(seeing) as server,
        connected(server, deployed, SERVICE_NAME) as channel,
    ):
        renewing = True

        async def ask() -> None:
            while renewing:
                assert await ask_for(channel) == "Who is it?"

        asking = [asyncio.create_task(ask()) for _ in range(8)]
        for count in range(10):
            copy(deployed.authority.issue("client"), deployed.client)
            await until(lambda count=count: len(set(seeing.shown)) > count)  # type: ignore[misc]
        renewing = False
        await asyncio.gather(*asking)
        await until(lambda: connections(server) == 1)


async def test_many_renewals_leave_one_connection(deployed: Deployed) -> None:
    async with deployed.serving(Seeing()) as server, connected(server, deployed) as channel:
        for _ in range(20):
            deployed.other_authority()
            assert await ask_for(channel) == "Who is it?"
        await until(lambda: connections(server) == 1)


async def test_inconsistent_files_leave_the_certificate_unchanged(
    deployed: Deployed, caplog: pytest.LogCaptureFixture
) -> None:
    seeing = Seeing()
    async with deployed.serving(seeing) as server, connected(server, deployed) as channel:
        await ask_for(channel)
        renewed = deployed.authority.issue("client")
        whole = renewed.cert.read_bytes()
        for half in (whole[: len(whole) // 2], whole):
            deployed.client.cert.write_bytes(half)
            caplog.clear()
            for _ in range(3):
                await ask_for(channel)
            warned = [each for each in caplog.messages if "the previous contents are kept" in each]
            assert len(warned) == 1
            assert warned[0].startswith("X_CLIENT_KEY_FILE: ")
        deployed.client.cert.unlink()
        await ask_for(channel)
        assert len(set(seeing.shown)) == 1
        copy(renewed, deployed.client)
        await ask_for(channel)
        assert seeing.shown[-1].strip() == whole.strip()
        await until(lambda: connections(server) == 1)


async def test_files_of_a_secret_are_followed_through_their_link(
    deployed: Deployed, tmp_path: Path
) -> None:
    volume, seeing = tmp_path / "volume", Seeing()
    volume.mkdir()

    def mount(version: str) -> None:
        """As the kubelet does: a folder of the new files, to which one link is turned."""
        issued = deployed.authority.issue("client")
        (volume / version).mkdir()
        (volume / version / "tls.crt").write_bytes(issued.cert.read_bytes())
        (volume / version / "tls.key").write_bytes(issued.key.read_bytes())
        (volume / "newer").symlink_to(version)
        (volume / "newer").replace(volume / "..data")

    mount("..first")
    cert, key = volume / "tls.crt", volume / "tls.key"
    cert.symlink_to("..data/tls.crt")
    key.symlink_to("..data/tls.key")
    credentials = channel_credentials(TlsFiles("X_", deployed.ca, cert, key))
    async with (
        deployed.serving(seeing) as server,
        open_channel(server.target, settings=ONCE, credentials=credentials) as channel,
    ):
        await ask_for(channel)
        mount("..second")
        await ask_for(channel)
        assert seeing.shown[-1].strip() == cert.read_bytes().strip()
        assert len(set(seeing.shown)) == 2


async def test_a_channel_that_is_closed_leaves_no_older_one(deployed: Deployed) -> None:
    async with deployed.serving(GeneratorServicer(Held())) as server:
        async with connected(server, deployed) as channel:
            generator = RemoteGenerator(channel, "generator")
            events = generator.generate(GenerateRequest("a"))
            await anext(events)
            deployed.other_authority()
            await generator.describe_model()
            await events.aclose()
            reading = generator.generate(GenerateRequest("a"))
            await anext(reading)
            deployed.other_authority()
            await generator.describe_model()
        await reading.aclose()
        await until(lambda: connections(server) == 0)


async def test_readiness_is_watched_by_the_certificates_of_now(deployed: Deployed) -> None:
    async with deployed.serving(GeneratorServicer(Held())) as needed:
        need = Need(needed.target, generator_wire.SERVICE_NAME, deployed.credentials())
        plain = ServiceSettings(stop_grace_s=0)
        servicer = QueryBuilderServicer(LocalQueryBuilder())
        async with open_server(
            [servicer], LOOPBACK, plain, status_of=status_of, needs=[need]
        ) as server:
            await wait_until_serving(server.target, SERVICE_NAME)
            await needed.server.stop(None)
            await until_not_serving(server.target, SERVICE_NAME)
            deployed.other_authority()
            async with deployed.serving(GeneratorServicer(Held()), needed.address):
                await wait_until_serving(server.target, SERVICE_NAME)


async def test_the_ports_of_a_process_show_what_its_settings_name(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = {"CA": deployed.ca, "CERT": deployed.client.cert, "KEY": deployed.client.key}
    monkeypatch.setenv("SCAAR_CHANNEL_TLS", "true")
    for name, path in shown.items():
        monkeypatch.setenv(f"SCAAR_CHANNEL_{name}_FILE", str(path))
    seeing = Seeing()
    async with (
        deployed.serving(seeing) as server,
        compose.open_query_builder(server.target) as builder,
    ):
        for _ in range(2):
            await builder.build_query(REQUEST)
            deployed.other_authority()
    assert len(set(seeing.shown)) == 2


async def test_the_client_continues_when_the_authority_changes(
    deployed: Deployed,
) -> None:
    async with (
        deployed.serving(OrchestratorServicer(SteadyAnswerer())) as server,
        open_client(
            server.target,
            ca_file=deployed.ca,
            cert_file=deployed.client.cert,
            key_file=deployed.client.key,
            token="t0ken",
        ) as client,
    ):
        first = await client.answer("Who?", policy="no_retrieval")
        deployed.other_authority()
        assert (await client.answer("Who?", policy="no_retrieval")).answer == first.answer
