"""A Triton server with TLS: trusted certificates, and errors of others."""

from contextlib import asynccontextmanager

import grpc
import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest
from scaar.core.types import ScoreRequest
from scaar.encoders.cross_encoder import open_cross_encoder
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.certificates import Authority

from .triton_stand_in import standing_in

SENTENCE = ScoreRequest("Who?", ("Ann", "did", "it."))


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """Another authority, which is not trusted."""
    return Authority(tmp_path_factory.mktemp("stranger"))


@pytest.fixture
def serving(cross_encoder_folder):
    """Open a server with the certificate, if any, which may require client certificates."""
    model = open_cross_encoder(cross_encoder_folder, threads=1)

    @asynccontextmanager
    async def serve(issued, clients_of=None):
        credentials = issued and grpc.ssl_server_credentials(
            [(issued.key.read_bytes(), issued.cert.read_bytes())],
            root_certificates=clients_of.read_bytes() if clients_of else None,
            require_client_auth=clients_of is not None,
        )
        async with standing_in(model.session, credentials) as (_, target):
            yield target

    return serve


@pytest.fixture
def scoring(cross_encoder_folder):
    """Open a scorer on a server, with TLS by default."""

    def scorer(target, **given):
        settings = {"engine": "triton", "model": cross_encoder_folder, "cache_entries": 0}
        return open_scorer(
            ScorerSettings(**settings, triton_target=target, **{"triton_tls": True, **given})
        )

    return scorer


async def refused(opening):
    """Return the error with which opening a scorer fails."""
    reported = "TLS fails; check SCAAR_SCORER_TRITON_CA_FILE"
    with pytest.raises(CapabilityMissing, match=reported) as caught:
        async with opening:
            pass
    return caught.value.message


async def test_a_server_of_the_configured_authority_is_called(authority, serving, scoring):
    async with (
        serving(authority.issue()) as target,
        scoring(target, triton_ca_file=authority.ca) as scorer,
    ):
        (row,) = await scorer.score_contributions([SENTENCE])
        assert len(row) == 3


async def test_a_server_may_require_a_client_certificate(authority, stranger, serving, scoring):
    client, unknown = authority.issue("client"), stranger.issue("client")
    async with serving(authority.issue(), clients_of=authority.ca) as target:
        files = {"triton_client_cert_file": client.cert, "triton_client_key_file": client.key}
        async with scoring(target, triton_ca_file=authority.ca, **files) as scorer:
            assert await scorer.score_contributions([SENTENCE])
        for each in (
            {},
            {"triton_client_cert_file": unknown.cert, "triton_client_key_file": unknown.key},
        ):
            # The server closes the connection and says nothing: it may be one that is not up yet.
            async with scoring(target, triton_ca_file=authority.ca, **each) as scorer:
                with pytest.raises(BackendUnavailable):
                    await scorer.score_contributions([SENTENCE])


@pytest.mark.parametrize("trusting", ["the system", "another authority"])
async def test_a_certificate_of_an_untrusted_authority_ends_the_start(
    trusting, authority, stranger, serving, scoring
):
    files = {} if trusting == "the system" else {"triton_ca_file": stranger.ca}
    async with serving(authority.issue()) as target:
        assert "CERTIFICATE_VERIFY_FAILED" in await refused(scoring(target, **files))


async def test_a_certificate_of_another_host_ends_the_start(authority, serving, scoring):
    async with serving(authority.issue("elsewhere.example")) as target:
        reported = await refused(scoring(target, triton_ca_file=authority.ca))
        assert "Hostname Verification Check failed" in reported


async def test_a_server_without_tls_ends_the_start(authority, serving, scoring):
    async with serving(None) as target:
        reported = await refused(scoring(target, triton_ca_file=authority.ca))
        assert "WRONG_VERSION_NUMBER" in reported


async def test_an_invalid_file_is_named_before_the_server_is_called(authority, scoring, tmp_path):
    missing = tmp_path / "none.pem"
    with pytest.raises(InvalidRequest, match="^SCAAR_SCORER_TRITON_CA_FILE: .*cannot be read"):
        async with scoring("127.0.0.1:1", triton_ca_file=missing):
            pass
    cert, key = authority.issue("one").cert, authority.issue("two").key
    files = {"triton_client_cert_file": cert, "triton_client_key_file": key}
    with pytest.raises(InvalidRequest, match="^SCAAR_SCORER_TRITON_CLIENT_KEY_FILE: .*is not the"):
        async with scoring("127.0.0.1:1", **files):
            pass


async def test_files_without_tls_would_have_no_effect_and_are_refused(authority, scoring):
    files = {"triton_ca_file": authority.ca, "triton_client_key_file": authority.ca}
    with pytest.raises(InvalidRequest) as caught:
        async with scoring("127.0.0.1:1", triton_tls=False, **files):
            pass
    reported = "requires SCAAR_SCORER_TRITON_TLS=true"
    assert [str(each) for each in caught.value.violations] == [
        f"SCAAR_SCORER_TRITON_CA_FILE: {reported}",
        f"SCAAR_SCORER_TRITON_CLIENT_KEY_FILE: {reported}",
    ]
