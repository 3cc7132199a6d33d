"""A server's TLS on real sockets: whom it lets in, what it shows, and when it shows another."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.types import QueryRequest, QuerySettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.query_builder.settings import QueryBuilderSettings
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.health import wait_until_serving
from scaar.runtime.server import RunningServer, open_server
from scaar.testing.certificates import Authority, Issued
from scaar.wire.query_builder import SERVICE_NAME, QueryBuilderServicer, RemoteQueryBuilder
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
ONCE = ChannelSettings(attempts=1)
REQUEST = QueryRequest("Who is it?", QuerySettings("question", include_question=False))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def issued(authority: Authority) -> Issued:
    return authority.issue()


def settings_for(issued: Issued, clients_of: Path | None = None) -> QueryBuilderSettings:
    return QueryBuilderSettings(
        tls_cert_file=issued.cert,
        tls_key_file=issued.key,
        tls_client_ca_file=clients_of,
        stop_grace_s=0.0,
    )


@asynccontextmanager
async def serving(settings: QueryBuilderSettings) -> AsyncIterator[RunningServer]:
    servicer = QueryBuilderServicer(LocalQueryBuilder())
    async with open_server([servicer], LOOPBACK, settings, status_of=status_of) as server:
        yield server


def trusting(ca: Path, shown: Issued | None = None) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        ca.read_bytes(),
        private_key=shown.key.read_bytes() if shown else None,
        certificate_chain=shown.cert.read_bytes() if shown else None,
    )


async def ask(target: str, credentials: grpc.ChannelCredentials | None) -> str:
    async with open_channel(target, settings=ONCE, credentials=credentials) as channel:
        return (await RemoteQueryBuilder(channel, target).build_query(REQUEST)).text


async def test_calls_and_health_go_by_tls(authority: Authority, issued: Issued) -> None:
    async with serving(settings_for(issued)) as server:
        credentials = trusting(authority.ca)
        assert await ask(server.target, credentials) == "Who is it?"
        await wait_until_serving(server.target, SERVICE_NAME, credentials=credentials)


async def test_plaintext_is_refused(issued: Issued) -> None:
    async with serving(settings_for(issued)) as server:
        with pytest.raises(BackendUnavailable):
            await ask(server.target, None)
        with pytest.raises(BackendUnavailable):
            await wait_until_serving(server.target, timeout_s=0.3)


async def test_a_client_that_trusts_others_does_not_ask(issued: Issued, tmp_path: Path) -> None:
    async with serving(settings_for(issued)) as server:
        with pytest.raises(BackendUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            await ask(server.target, trusting(Authority(tmp_path / "stranger").ca))


async def test_clients_show_a_certificate_where_they_have_to(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path / "stranger")
    async with serving(settings_for(issued, clients_of=authority.ca)) as server:
        known = trusting(authority.ca, authority.issue("client"))
        assert await ask(server.target, known) == "Who is it?"
        await wait_until_serving(server.target, SERVICE_NAME, credentials=known)
        for shown in (None, stranger.issue("client")):
            with pytest.raises(BackendUnavailable):
                await ask(server.target, trusting(authority.ca, shown))


async def test_a_new_certificate_is_used_and_open_connections_continue(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    newer = Authority(tmp_path / "newer")
    async with (
        serving(settings_for(issued)) as server,
        open_channel(server.target, credentials=trusting(authority.ca)) as older,
    ):
        builder = RemoteQueryBuilder(older, server.target)
        await builder.build_query(REQUEST)
        replace(issued, newer.issue())
        assert await ask(server.target, trusting(newer.ca)) == "Who is it?"
        with pytest.raises(BackendUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            await ask(server.target, trusting(authority.ca))
        assert (await builder.build_query(REQUEST)).text == "Who is it?"


async def test_a_new_authority_of_clients_counts_for_new_connections(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    others, trusted = Authority(tmp_path / "others"), tmp_path / "trusted.pem"
    trusted.write_bytes(authority.ca.read_bytes())
    async with serving(settings_for(issued, clients_of=trusted)) as server:
        credentials = trusting(authority.ca, others.issue("client"))
        with pytest.raises(BackendUnavailable):
            await ask(server.target, credentials)
        trusted.write_bytes(authority.ca.read_bytes() + others.ca.read_bytes())
        assert await ask(server.target, credentials) == "Who is it?"


async def test_inconsistent_files_leave_the_certificate_unchanged(
    authority: Authority, issued: Issued, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    newer = Authority(tmp_path / "newer")
    renewed = newer.issue()
    async with serving(settings_for(issued)) as server:
        issued.cert.write_bytes(renewed.cert.read_bytes())
        assert await ask(server.target, trusting(authority.ca)) == "Who is it?"
        assert "TLS_KEY_FILE: " in caplog.text
        assert "the previous contents are kept" in caplog.text
        issued.key.write_bytes(renewed.key.read_bytes())
        assert await ask(server.target, trusting(newer.ca)) == "Who is it?"


async def test_an_invalid_file_is_reported_with_its_setting(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    missing, other = tmp_path / "none.pem", authority.issue("other")
    prefix = "SCAAR_QUERY_BUILDER_TLS"
    wrong = {
        (missing, issued.key, None): f"{prefix}_CERT_FILE: {missing} cannot be read: No such file",
        (issued.cert, missing, None): f"{prefix}_KEY_FILE: {missing} cannot be read: No such file",
        (issued.cert, other.key, None): f"{prefix}_KEY_FILE: {other.key} is not the unencrypted",
        (issued.cert, None, None): f"{prefix}_KEY_FILE: must be set together with TLS_CERT_FILE",
        (None, issued.key, None): f"{prefix}_CERT_FILE: must be set together with TLS_KEY_FILE",
        (None, None, authority.ca): f"{prefix}_CLIENT_CA_FILE: requires TLS_CERT_FILE",
        (issued.cert, issued.key, issued.key): f"{prefix}_CLIENT_CA_FILE: {issued.key} contains no",
    }
    for (cert, key, ca), reported in wrong.items():
        settings = QueryBuilderSettings(tls_cert_file=cert, tls_key_file=key, tls_client_ca_file=ca)
        with pytest.raises(InvalidRequest) as caught:
            async with serving(settings):
                pass
        assert caught.value.message.startswith(reported)


async def test_a_service_that_cannot_read_its_key_ends_with_one_line(issued: Issued) -> None:
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scaar.cli", "serve", "query-builder", "--address", LOOPBACK),
        env=environment(issued.cert, issued.cert),
        stderr=asyncio.subprocess.PIPE,
    )
    _, reported = await started.communicate()
    assert started.returncode == 2
    (line,) = reported.decode().splitlines()
    assert line.startswith("scaar: SCAAR_QUERY_BUILDER_TLS_KEY_FILE: ")


def environment(cert: Path, key: Path) -> dict[str, str]:
    files = {"CERT": cert, "KEY": key}
    named = {f"SCAAR_QUERY_BUILDER_TLS_{name}_FILE": str(path) for name, path in files.items()}
    return {**os.environ, **named}


def replace(issued: Issued, newer: Issued) -> None:
    """Write the files in the order of a certificate renewal."""
    issued.key.write_bytes(newer.key.read_bytes())
    issued.cert.write_bytes(newer.cert.read_bytes())
