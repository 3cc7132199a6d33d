"""The scorer on the real Triton server over TLS."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing
from scaar.core.types import ScoreRequest
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.certificates import Authority, Issued

from ..servers.triton.running_triton import RunningTriton, TritonTls, running_triton
from ..servers.triton.triton_server import TritonServer

SettingsFor = Callable[..., ScorerSettings]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Another authority, which is not trusted."""
    return Authority(tmp_path_factory.mktemp("stranger"))


@pytest.fixture(scope="module")
def client(authority: Authority) -> Issued:
    return authority.issue("client")


@pytest.fixture(scope="module")
def closed(
    server: TritonServer, exported: Path, authority: Authority, client: Issued
) -> Iterator[RunningTriton]:
    """A server that requires client certificates."""
    issued = authority.issue()
    tls = TritonTls(issued.cert, issued.key, authority.ca, authority.ca, client.cert, client.key)
    with running_triton(server, exported, tls=tls) as running:
        yield running


async def test_results_with_tls_equal_those_without(
    server: TritonServer,
    exported: Path,
    triton: RunningTriton,
    authority: Authority,
    stranger: Authority,
    settings_for: SettingsFor,
    sentences: list[ScoreRequest],
) -> None:
    issued = authority.issue()
    tls = TritonTls(issued.cert, issued.key, authority.ca)
    with running_triton(server, exported, tls=tls) as running:
        trusting = settings_for(running, triton_tls=True, triton_ca_file=authority.ca)
        async with open_scorer(trusting) as scorer, open_scorer(settings_for(triton)) as plain:
            expected = await plain.score_contributions(sentences)
            assert await scorer.score_contributions(sentences) == expected
        for ca in (stranger.ca, None):
            doubting = settings_for(running, triton_tls=True, triton_ca_file=ca)
            with pytest.raises(CapabilityMissing, match="TLS fails; check"):
                async with open_scorer(doubting):
                    pass


async def test_a_client_is_authenticated_by_its_certificate(
    closed: RunningTriton,
    authority: Authority,
    client: Issued,
    settings_for: SettingsFor,
    sentences: list[ScoreRequest],
) -> None:
    known = settings_for(
        closed,
        triton_tls=True,
        triton_ca_file=authority.ca,
        triton_client_cert_file=client.cert,
        triton_client_key_file=client.key,
    )
    async with open_scorer(known) as scorer:
        (row,) = await scorer.score_contributions(sentences[:1])
        assert len(row) == 9


async def test_a_client_without_a_trusted_certificate_is_not_served(
    closed: RunningTriton,
    authority: Authority,
    stranger: Authority,
    settings_for: SettingsFor,
    sentences: list[ScoreRequest],
) -> None:
    unknown = stranger.issue("client")
    for files in (
        {},
        {"triton_client_cert_file": unknown.cert, "triton_client_key_file": unknown.key},
    ):
        settings = settings_for(closed, triton_tls=True, triton_ca_file=authority.ca, **files)
        async with open_scorer(settings) as scorer:
            with pytest.raises(BackendUnavailable):
                await scorer.score_contributions(sentences[:1])


async def test_a_server_without_tls_ends_the_start(
    triton: RunningTriton, authority: Authority, settings_for: SettingsFor
) -> None:
    settings = settings_for(triton, triton_tls=True, triton_ca_file=authority.ca)
    with pytest.raises(CapabilityMissing, match="TLS fails; check"):
        async with open_scorer(settings):
            pass
