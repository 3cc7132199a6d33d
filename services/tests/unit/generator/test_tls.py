"""Servers with TLS: trusted certificates, and errors of others."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest, ScaarError
from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, GenerationEnd, GenerationEvent
from scaar.generator.engines.openai import open_openai_generator
from scaar.generator.engines.tgi import open_tgi_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.tgi import open_tgi_server
from scaar.testing.certificates import Authority, Issued

REQUEST = GenerateRequest("Question: Who directed the film?\nAnswer:", max_tokens=4)
SERVERS: dict[str, Any] = {"tgi": open_tgi_server, "openai": open_openai_server}
ENGINES: dict[str, Any] = {"tgi": open_tgi_generator, "openai": open_openai_generator}

pytestmark = pytest.mark.parametrize("engine", SERVERS)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Another authority, whom nobody trusts."""
    return Authority(tmp_path_factory.mktemp("stranger"))


@pytest.fixture(scope="module")
def issued(authority: Authority) -> Issued:
    return authority.issue()


@dataclasses.dataclass
class Pauses:
    """What the engine slept between attempts."""

    made: list[float] = dataclasses.field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.made.append(seconds)


@asynccontextmanager
async def connected(
    engine: str, url: str, pauses: Pauses | None = None, **fields: Any
) -> AsyncIterator[Generator]:
    settings = GeneratorSettings.model_validate({"engine": engine, "url": url, **fields})
    async with ENGINES[engine](settings, sleep=(pauses or Pauses()).sleep) as generator:
        yield generator


async def written(generator: Generator) -> list[GenerationEvent]:
    async with aclosing(generator.generate(REQUEST)) as events:
        return [event async for event in events]


async def refused(engine: str, url: str, **fields: Any) -> ScaarError:
    """What opening fails with, at the first attempt."""
    pauses = Pauses()
    with pytest.raises(ScaarError) as caught:
        async with connected(engine, url, pauses, **fields):
            pass
    assert pauses.made == []
    return caught.value


async def test_a_server_of_the_configured_authority_is_trusted(
    engine: str, authority: Authority, issued: Issued
) -> None:
    async with SERVERS[engine](tls=issued.serving()) as server:
        assert server.url.startswith("https://")
        async with connected(engine, server.url, ca_file=authority.ca) as generator:
            assert isinstance((await written(generator))[-1], GenerationEnd)


async def test_a_server_may_require_a_client_certificate(
    engine: str, authority: Authority, issued: Issued
) -> None:
    client = authority.issue("client")
    async with SERVERS[engine](tls=issued.serving(clients_of=authority.ca)) as server:
        known = {"client_cert_file": client.cert, "client_key_file": client.key}
        async with connected(engine, server.url, ca_file=authority.ca, **known) as generator:
            assert isinstance((await written(generator))[-1], GenerationEnd)


async def test_a_client_that_it_does_not_know_is_not_served(
    engine: str, authority: Authority, stranger: Authority, issued: Issued
) -> None:
    unknown = stranger.issue("client")
    async with SERVERS[engine](tls=issued.serving(clients_of=authority.ca)) as server:
        for known in ({}, {"client_cert_file": unknown.cert, "client_key_file": unknown.key}):
            # By TLS 1.3 it closes the connection only; by the one before it may say why.
            with pytest.raises((BackendUnavailable, CapabilityMissing)):
                async with connected(engine, server.url, ca_file=authority.ca, **known):
                    pass
        assert server.generations.accepted == []


@pytest.mark.parametrize("trusting", ["the system", "another authority"])
async def test_an_untrusted_certificate_is_rejected_without_a_retry(
    engine: str, trusting: str, issued: Issued, stranger: Authority
) -> None:
    files = {} if trusting == "the system" else {"ca_file": stranger.ca}
    async with SERVERS[engine](tls=issued.serving()) as server:
        error = await refused(engine, server.url, **files)
        assert isinstance(error, CapabilityMissing)
        assert "is not trusted: " in error.message
        assert "SCAAR_GENERATOR_CA_FILE" in error.message
        assert server.generations.accepted == []


async def test_a_certificate_of_another_host_is_refused(engine: str, authority: Authority) -> None:
    elsewhere = authority.issue("elsewhere.example")
    async with SERVERS[engine](tls=elsewhere.serving()) as server:
        error = await refused(engine, server.url, ca_file=authority.ca)
        assert isinstance(error, CapabilityMissing)
        assert "127.0.0.1" in error.message
        assert "is not trusted" in error.message


async def test_a_server_without_tls_differs_from_an_unreachable_one(
    engine: str, authority: Authority
) -> None:
    async with SERVERS[engine]() as server:
        url = server.url.replace("http://", "https://")
        error = await refused(engine, url, ca_file=authority.ca)
        assert isinstance(error, CapabilityMissing)
        assert "rejected the TLS connection: " in error.message
    with pytest.raises(BackendUnavailable):
        async with connected(engine, url, ca_file=authority.ca):
            pass


async def test_an_invalid_file_is_named_before_any_request(engine: str, tmp_path: Path) -> None:
    async with SERVERS[engine]() as server:
        error = await refused(engine, server.url, ca_file=tmp_path / "none.pem")
        assert isinstance(error, InvalidRequest)
        assert error.message.startswith("SCAAR_GENERATOR_CA_FILE: ")
        assert "none.pem cannot be read: No such file" in error.message


def test_files_are_for_https(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("ca_file", "client_cert_file", "client_key_file")
    given = {"engine": engine, "url": "http://127.0.0.1:1", **dict.fromkeys(names, "/file")}
    for name, value in given.items():
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
    with pytest.raises(InvalidRequest) as caught:
        GeneratorSettings.read()
    reported = "requires an https:// url, but url is http://"
    assert [str(each) for each in caught.value.violations] == [
        f"SCAAR_GENERATOR_{name.upper()}: {reported}" for name in names
    ]
