"""Who may call, over real sockets: tokens, certificates, and the tenant that comes of them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2_grpc

from scaar.client import open_client
from scaar.console.back_ends import open_back_ends
from scaar.console.settings import ConsoleSettings
from scaar.core.errors import (
    BackendUnavailable,
    InvalidRequest,
    Overloaded,
    PermissionDenied,
    Unauthenticated,
)
from scaar.core.tenancy import TENANT_KEY, proved_tenant
from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.gateway.orchestrator import open_orchestrator
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.health import wait_until_serving
from scaar.runtime.server import RunningServer, open_server
from scaar.testing.certificates import Authority
from scaar.testing.fakes import ScriptedAnswerer
from scaar.wire.orchestrator import SERVICE_NAME, OrchestratorServicer, RemoteAnswerer
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
REQUEST = AnswerRequest("Where?", PolicyRequest("scaar"))
Metadata = tuple[tuple[str, str], ...]


class Tenants:
    """An answerer that keeps for whom it was asked, and then fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.seen: list[str | None] = []
        self._error = error or BackendUnavailable("requested")

    def answerer(self) -> ScriptedAnswerer:
        def script(_: AnswerRequest) -> list[Any]:
            self.seen.append(proved_tenant())
            return [self._error]

        return ScriptedAnswerer(script)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def identities(path: Path, tokens: Mapping[str, str], certificates: str = "") -> Path:
    lines = (f"  {sha256(name.encode()).hexdigest()}: {each}\n" for name, each in tokens.items())
    path.write_text(f"tokens:\n{''.join(lines)}{certificates}")
    return path


@asynccontextmanager
async def serving(tenants: Tenants, **settings: Any) -> AsyncIterator[RunningServer]:
    servicer = OrchestratorServicer(tenants.answerer())
    made = OrchestratorSettings(stop_grace_s=0.0, **settings)
    async with open_server([servicer], LOOPBACK, made, status_of=status_of) as server:
        yield server


async def ask(target: str, *metadata: tuple[str, str]) -> None:
    async with open_channel(target, settings=ChannelSettings(attempts=1)) as channel:
        await RemoteAnswerer(channel, target, metadata=metadata).answer(REQUEST)


def bearer(token: str) -> tuple[str, str]:
    return "authorization", f"Bearer {token}"


async def test_the_tenant_of_a_call_is_that_of_its_token(tmp_path: Path) -> None:
    tenants = Tenants()
    file = identities(tmp_path / "identities.yaml", {"one": "acme", "two": "globex"})
    async with serving(tenants, identities_file=file) as server:
        for token in ("one", "two", "one"):
            with pytest.raises(BackendUnavailable, match="requested"):
                await ask(server.target, bearer(token))
        with pytest.raises(BackendUnavailable, match="requested"):
            await ask(server.target, ("authorization", "bearer two"), (TENANT_KEY, "globex"))
    assert tenants.seen == ["acme", "globex", "acme", "globex"]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ((), "a bearer token is missing"),
        ((bearer("wrong"),), "the bearer token is unknown"),
        ((bearer(""),), "must be one bearer token|is unknown"),
        ((("authorization", "Basic b25l"),), "must be one bearer token"),
        ((bearer("one"), bearer("two")), "must be one bearer token"),
        (((TENANT_KEY, "acme"),), "a bearer token is missing"),
    ],
)
async def test_a_caller_that_is_not_known_is_refused(
    tmp_path: Path, metadata: Metadata, expected: str
) -> None:
    tenants = Tenants()
    file = identities(tmp_path / "identities.yaml", {"one": "acme", "two": "acme"})
    async with serving(tenants, identities_file=file) as server:
        with pytest.raises(Unauthenticated, match=expected):
            await ask(server.target, *metadata)
    assert tenants.seen == []


async def test_another_tenant_than_the_callers_is_rejected(tmp_path: Path) -> None:
    tenants = Tenants()
    file = identities(tmp_path / "identities.yaml", {"one": "acme"})
    async with serving(tenants, identities_file=file) as server:
        with pytest.raises(PermissionDenied, match="is 'globex', but the caller's tenant is"):
            await ask(server.target, bearer("one"), (TENANT_KEY, "globex"))
    assert tenants.seen == []


async def test_gateway_and_console_call_with_the_token_of_their_caller_only(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "token"
    own.write_text("one")
    settings = {"TLS": "true", "CA_FILE": str(authority.ca), "TOKEN_FILE": str(own)}
    for name, value in settings.items():
        monkeypatch.setenv(f"SCAAR_CHANNEL_{name}", value)
    tenants, issued = Tenants(), authority.issue()
    file = identities(tmp_path / "identities.yaml", {"one": "acme", "two": "globex"})
    headers = {"authorization": "Bearer two"}
    async with (
        serving(
            tenants, identities_file=file, tls_cert_file=issued.cert, tls_key_file=issued.key
        ) as server,
        open_orchestrator(server.target) as gateway,
        open_back_ends(ConsoleSettings(orchestrator_target=server.target)) as console,
    ):
        for ports in (gateway.caller(headers, "r-1"), console.ports(headers, "r-2")):
            with pytest.raises(BackendUnavailable, match="requested"):
                await ports.answerer.answer(REQUEST)
        with pytest.raises(Unauthenticated, match="a bearer token is missing"):
            gateway.caller({}, "r-3")
    assert set(tenants.seen) == {"globex"}


async def test_health_needs_no_identity_and_reflection_does(tmp_path: Path) -> None:
    file = identities(tmp_path / "identities.yaml", {"one": "acme"})
    async with serving(Tenants(), identities_file=file) as server:
        await wait_until_serving(server.target, SERVICE_NAME, timeout_s=10)
        async with open_channel(server.target) as channel:
            call = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo()
            assert await call.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_server_without_identities_is_open_to_all() -> None:
    tenants = Tenants()
    async with serving(tenants) as server:
        with pytest.raises(BackendUnavailable, match="requested"):
            await ask(server.target, bearer("anything"), (TENANT_KEY, "acme"))
    assert tenants.seen == [None]


async def test_a_removed_token_is_rejected(tmp_path: Path) -> None:
    file = identities(tmp_path / "identities.yaml", {"one": "acme"})
    async with serving(Tenants(), identities_file=file) as server:
        with pytest.raises(BackendUnavailable, match="requested"):
            await ask(server.target, bearer("one"))
        identities(file, {"two": "globex"})
        with pytest.raises(Unauthenticated):
            await ask(server.target, bearer("one"))
        file.write_text("tokens: [")
        with pytest.raises(BackendUnavailable, match="requested"):
            await ask(server.target, bearer("two"))


async def test_a_certificate_is_an_identity_and_a_token_overrides_it(
    authority: Authority, tmp_path: Path
) -> None:
    tenants, issued = Tenants(), authority.issue()
    known, stranger = authority.issue("known.test"), authority.issue("stranger.test")
    names = "certificates:\n  known.test: acme\n"
    tls = {
        "tls_cert_file": issued.cert,
        "tls_key_file": issued.key,
        "tls_client_ca_file": authority.ca,
        "identities_file": identities(tmp_path / "identities.yaml", {"one": "globex"}, names),
    }
    async with serving(tenants, **tls) as server:

        async def ask_as(cert: Path, key: Path, token: str | None = None) -> None:
            files = {"ca_file": authority.ca, "cert_file": cert, "key_file": key, "token": token}
            async with open_client(server.target, **files) as client:
                await client.answer("Where?")

        with pytest.raises(BackendUnavailable, match="requested"):
            await ask_as(known.cert, known.key)
        with pytest.raises(BackendUnavailable, match="requested"):
            await ask_as(stranger.cert, stranger.key, "one")
        with pytest.raises(Unauthenticated, match=r"certificate of stranger\.test is unknown"):
            await ask_as(stranger.cert, stranger.key)
        with pytest.raises(Unauthenticated, match="the bearer token is unknown"):
            await ask_as(known.cert, known.key, "wrong")
    assert {*tenants.seen} == {"acme", "globex"}


async def test_a_rejection_of_the_orchestrator_is_not_one_of_its_caller() -> None:
    async with serving(Tenants(Unauthenticated("the bearer token is unknown"))) as server:
        with pytest.raises(
            BackendUnavailable, match="a service rejects the orchestrator's credentials"
        ):
            await ask(server.target)


async def test_calls_above_a_tenants_rate_get_a_retry_delay(tmp_path: Path) -> None:
    file = identities(tmp_path / "identities.yaml", {"one": "acme", "two": "globex"})
    limits = {"tenant_calls_per_s": 0.001, "tenant_burst": 2}
    async with serving(Tenants(), identities_file=file, **limits) as server:
        for token in ("one", "one", "two"):
            with pytest.raises(BackendUnavailable, match="requested"):
                await ask(server.target, bearer(token))
        with pytest.raises(
            Overloaded, match=r"tenant 'acme' exceeded its limit of 0\.001 calls per second"
        ) as caught:
            await ask(server.target, bearer("one"))
        assert 0 < caught.value.retry_after_s <= 1000
        # Unknown callers and health checks use no tenant's rate.
        with pytest.raises(Unauthenticated):
            await ask(server.target, (TENANT_KEY, "globex"))
        await wait_until_serving(server.target, SERVICE_NAME, timeout_s=10)
        with pytest.raises(BackendUnavailable, match="requested"):
            await ask(server.target, bearer("two"))


async def test_calls_above_a_tenants_concurrency_are_rejected() -> None:
    tenants = Tenants()
    entered, leave = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedAnswerer):
        async def stream_answer(self, request: AnswerRequest) -> Any:
            entered.set()
            await leave.wait()
            async with aclosing(tenants.answerer().stream_answer(request)) as events:
                async for event in events:
                    yield event

    settings = OrchestratorSettings(tenant_concurrent_calls=1, stop_grace_s=0.0)
    servicer = OrchestratorServicer(Slow(lambda _: []))
    async with open_server([servicer], LOOPBACK, settings, status_of=status_of) as server:
        under_way = asyncio.create_task(ask(server.target, (TENANT_KEY, "acme")))
        await entered.wait()
        with pytest.raises(Overloaded, match="tenant 'acme' is at its limit of 1 concurrent calls"):
            await ask(server.target, (TENANT_KEY, "acme"))
        others = asyncio.create_task(ask(server.target))
        leave.set()
        for requested in (under_way, others):
            with pytest.raises(BackendUnavailable, match="requested"):
                await requested


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "IDENTITIES_FILE: .*cannot be read: No such file"),
        ("", "has neither tokens nor certificates"),
        ("tokens: [", "line 1"),
        ("users: {a: b}", "users: is not a section; known: tokens, certificates, tenants"),
        ("users: 3", "users: is not a section of settings; sections: tokens, certificates, tena"),
        ("tenants: 3", "tenants: must be a section of settings"),
        ("tokens: {secret-token: acme}", r"tokens\.secr\.\.\.: must be the SHA-256"),
        (f"certificates: {{{'ab' * 32}: acme}}", r"certificates\.abababab\.\.\.: is the SHA-256"),
        (f"tokens: {{{'a' * 64}: ''}}", r"tokens\.aaaaaaaa\.\.\.: the tenant must have 1 to 128"),
        (f"tokens: {{{'a' * 64}: ' x'}}", "the tenant must be printable ASCII"),
        ("certificates: {known.test: acme}", "which require TLS_CLIENT_CA_FILE"),
    ],
)
async def test_an_invalid_file_is_reported(tmp_path: Path, text: str | None, expected: str) -> None:
    file = tmp_path / "identities.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InvalidRequest, match=expected) as caught:
        async with serving(Tenants(), identities_file=file):
            pass
    assert [each.field for each in caught.value.violations] == [
        "SCAAR_ORCHESTRATOR_IDENTITIES_FILE"
    ]
    assert "secret-token" not in caught.value.message
