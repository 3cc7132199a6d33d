"""Channels by TLS on real sockets, as the settings of a process or the opener of a client say."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from scaar import compose
from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.types import QueryRequest, QuerySettings
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime import probe
from scaar.runtime.health import wait_until_serving
from scaar.runtime.server import RunningServer, Servicer, open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.certificates import Authority, Issued
from scaar.testing.fakes import ScriptedGenerator
from scaar.wire.generator import GeneratorServicer
from scaar.wire.query_builder import SERVICE_NAME, QueryBuilderServicer
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
REQUEST = QueryRequest("Who is it?", QuerySettings("question", include_question=False))
Channel = Callable[..., None]


class KeepingServicer(QueryBuilderServicer):
    """Keeps what came as the token of each call."""

    def __init__(self) -> None:
        super().__init__(LocalQueryBuilder())
        self.tokens: list[str | bytes | None] = []

    async def BuildQuery(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.tokens.append(dict(context.invocation_metadata()).get("authorization"))
        return await super().BuildQuery(request, context)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def issued(authority: Authority) -> Issued:
    return authority.issue()


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> Channel:
    """Sets what a process calls the others with."""

    def set_all(**settings: object) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(f"SCAAR_CHANNEL_{name.upper()}", str(value))

    return set_all


@asynccontextmanager
async def serving(
    issued: Issued | None, servicer: Servicer | None = None, *, clients_of: Path | None = None
) -> AsyncIterator[RunningServer]:
    settings = ServiceSettings(
        tls_cert_file=issued and issued.cert,
        tls_key_file=issued and issued.key,
        tls_client_ca_file=clients_of,
        stop_grace_s=0.0,
    )
    servicer = servicer or QueryBuilderServicer(LocalQueryBuilder())
    async with open_server([servicer], LOOPBACK, settings, status_of=status_of) as server:
        yield server


async def ask(target: str) -> str:
    async with compose.open_query_builder(target) as builder:
        return (await builder.build_query(REQUEST)).text


async def test_every_port_of_a_process_is_called_with_its_certificate(
    authority: Authority, issued: Issued, channel: Channel
) -> None:
    shown = authority.issue("orchestrator.test")
    channel(tls=True, ca_file=authority.ca, cert_file=shown.cert, key_file=shown.key)
    generator = GeneratorServicer(ScriptedGenerator({"a": [(" x", -0.1)]}))
    async with (
        serving(issued, clients_of=authority.ca) as builder,
        serving(issued, generator, clients_of=authority.ca) as model,
    ):
        settings = OrchestratorSettings(
            generator_target=model.target, query_builder_target=builder.target
        )
        async with compose.open_ports(settings) as ports:
            assert (await ports.query_builder.build_query(REQUEST)).text == "Who is it?"
            assert (await ports.generator.describe_model()).model
        waiting = open_server(
            [], LOOPBACK, ServiceSettings(), status_of=status_of, needs=compose.needs_of(settings)
        )
        async with waiting as orchestrator:
            await wait_until_serving(orchestrator.target, timeout_s=10)


async def test_readiness_is_watched_by_tls(
    authority: Authority, issued: Issued, channel: Channel
) -> None:
    channel(tls=True, ca_file=authority.ca)
    generator = GeneratorServicer(ScriptedGenerator({"a": [(" x", -0.1)]}))
    async with serving(issued, generator) as model:
        settings = OrchestratorSettings(generator_target=model.target)
        async with open_server(
            [QueryBuilderServicer(LocalQueryBuilder())],
            LOOPBACK,
            ServiceSettings(stop_grace_s=0),
            status_of=status_of,
            needs=compose.needs_of(settings),
        ) as server:
            await wait_until_serving(server.target, SERVICE_NAME, timeout_s=10)


async def test_the_probe_uses_the_channel_settings(
    authority: Authority,
    issued: Issued,
    channel: Channel,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "TIMEOUT_S", 1.0)
    async with serving(issued) as server:
        assert await asyncio.to_thread(probe.main, [server.target, SERVICE_NAME]) == 1
        assert "as a TLS server does" in capsys.readouterr().err
        channel(ca_file=authority.ca)
        assert await asyncio.to_thread(probe.main, [server.target]) == 2
        assert "SCAAR_CHANNEL_CA_FILE: requires channel.tls" in capsys.readouterr().err
        channel(tls=True)
        assert await asyncio.to_thread(probe.main, [server.target, SERVICE_NAME]) == 0


async def test_the_reason_of_a_failed_connection_is_reported(
    authority: Authority, issued: Issued, channel: Channel, tmp_path: Path
) -> None:
    async with serving(issued) as server, serving(None) as plain:
        with pytest.raises(BackendUnavailable, match="does not answer: the server closes conn"):
            await ask(server.target)
        channel(tls=True, ca_file=authority.ca)
        with pytest.raises(BackendUnavailable, match="does not answer: the server uses plaintext"):
            await ask(plain.target)
        async with serving(authority.issue("elsewhere.example")) as other:
            with pytest.raises(BackendUnavailable, match="certificate is for another name"):
                await ask(other.target)
        channel(ca_file=Authority(tmp_path / "stranger").ca)
        with pytest.raises(BackendUnavailable, match="does not trust the authority of the server"):
            await ask(server.target)


async def test_a_token_is_sent_with_every_call_and_reloaded(
    authority: Authority, issued: Issued, channel: Channel, tmp_path: Path
) -> None:
    token, servicer = tmp_path / "token", KeepingServicer()
    token.write_text("first\n")
    channel(tls=True, ca_file=authority.ca, token_file=token)
    async with (
        serving(issued, servicer) as server,
        compose.open_query_builder(server.target) as builder,
    ):
        await builder.build_query(REQUEST)
        token.write_text("the second\n")
        await builder.build_query(REQUEST)
        token.write_text("third\n")
        await builder.build_query(REQUEST)
    assert servicer.tokens == ["Bearer first", "Bearer first", "Bearer third"]


def test_invalid_settings_are_named(authority: Authority, channel: Channel, tmp_path: Path) -> None:
    settings = OrchestratorSettings(generator_target="127.0.0.1:1")
    missing, token = tmp_path / "none", tmp_path / "token"
    token.write_text("not a token")

    def reported() -> str:
        with pytest.raises(InvalidRequest) as caught:
            compose.needs_of(settings)
        return caught.value.message

    channel(token_file=token)
    assert reported() == "SCAAR_CHANNEL_TOKEN_FILE: requires channel.tls, which is false"
    channel(tls=True)
    assert reported().startswith("SCAAR_CHANNEL_TOKEN_FILE: must be a bearer token: letters")
    channel(token_file=missing)
    assert reported().startswith(f"SCAAR_CHANNEL_TOKEN_FILE: {missing} cannot be read")
    token.write_text("abc")
    channel(token_file=token, cert_file=missing)
    assert reported().startswith("SCAAR_CHANNEL_KEY_FILE: must be set together with CERT_FILE")
    channel(ca_file=missing)
    assert reported().startswith(f"SCAAR_CHANNEL_CA_FILE: {missing} cannot be read")
