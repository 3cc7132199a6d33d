"""What deploy/secrets.sh makes is what servers serve by, and clients call with."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from scaar import compose
from scaar.core.errors import Unauthenticated
from scaar.core.types import QueryRequest, QuerySettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.wire.query_builder import QueryBuilderServicer
from scaar.wire.status import status_of

DEPLOY = Path(__file__).parents[3] / "deploy"
REQUEST = QueryRequest("Who is it?", QuerySettings("question", include_question=False))


def made(folder: Path) -> list[str]:
    """The certificates that the script has made."""
    command = [str(DEPLOY / "secrets.sh"), str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "secrets"
    made(folder)
    return folder


def test_every_secret_of_the_compose_file_is_there(folder: Path) -> None:
    declared = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["secrets"]
    assert set(declared) <= {path.name for path in folder.iterdir() if path.stat().st_size}


def test_only_the_owner_can_read_the_folder_and_the_authoritys_key(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "authority.key").stat().st_mode & 0o777 == 0o600


def test_existing_files_are_kept_except_expiring_certificates(tmp_path: Path) -> None:
    made(tmp_path)
    before = content(tmp_path)
    assert made(tmp_path) == []
    assert content(tmp_path) == before
    ending = ["openssl", "x509", "-in", "scorer.pem", "-signkey", "scorer.key", "-days", "29"]
    subprocess.run([*ending, "-out", "scorer.pem"], cwd=tmp_path, check=True, capture_output=True)
    assert made(tmp_path) == ["scorer.pem"]
    after = content(tmp_path)
    assert {name for name in before if before[name] != after[name]} == {"scorer.pem"}


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda folder: (folder / "authority.key").unlink(), "scorer.pem needs authority.key"),
        (lambda folder: (folder / "scorer.names").write_text("no name\n"), "scorer.names"),
    ],
    ids=["the authority's key is elsewhere", "a name is invalid"],
)
def test_a_certificate_that_cannot_be_renewed_stays_and_the_reason_is_printed(
    tmp_path: Path, prepare: Callable[[Path], object], message: str
) -> None:
    made(tmp_path)
    ending = ["openssl", "x509", "-in", "scorer.pem", "-signkey", "scorer.key", "-days", "29"]
    subprocess.run([*ending, "-out", "scorer.pem"], cwd=tmp_path, check=True, capture_output=True)
    prepare(tmp_path)
    before = content(tmp_path)
    command = [str(DEPLOY / "secrets.sh"), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert message in ended.stderr
    assert content(tmp_path) == before


def test_the_key_of_an_authority_without_its_certificate_is_kept(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "ca.pem").unlink()
    before = content(tmp_path)
    command = [str(DEPLOY / "secrets.sh"), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"ca.pem of authority.key is missing in {tmp_path}" in ended.stderr
    assert content(tmp_path) == before


def test_a_certificate_has_the_names_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "orchestrator.names").write_text("DNS:answers.example.org\nIP:10.0.0.7\n")
    made(tmp_path)
    shown = ["openssl", "x509", "-in", "orchestrator.pem", "-noout", "-ext", "subjectAltName"]
    names = subprocess.run(shown, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert {each.strip() for each in names.splitlines()[1].split(",")} == {
        "DNS:orchestrator",
        "DNS:localhost",
        "IP Address:127.0.0.1",
        "DNS:answers.example.org",
        "IP Address:10.0.0.7",
    }


async def test_its_callers_are_known_by_token_or_certificate_and_others_are_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def calls_as(name: str, token: str = "") -> None:
        monkeypatch.setenv("SCAAR_CHANNEL_TLS", "true")
        monkeypatch.setenv("SCAAR_CHANNEL_CA_FILE", str(folder / "ca.pem"))
        monkeypatch.setenv("SCAAR_CHANNEL_CERT_FILE", str(folder / f"{name}.pem"))
        monkeypatch.setenv("SCAAR_CHANNEL_KEY_FILE", str(folder / f"{name}.key"))
        monkeypatch.setenv("SCAAR_CHANNEL_TOKEN_FILE", token and str(folder / token))

    async def ask(target: str) -> str:
        async with compose.open_query_builder(target) as builder:
            return (await builder.build_query(REQUEST)).text

    settings = ServiceSettings(
        tls_cert_file=folder / "orchestrator.pem",
        tls_key_file=folder / "orchestrator.key",
        tls_client_ca_file=folder / "ca.pem",
        identities_file=folder / "identities.yaml",
        stop_grace_s=0.0,
    )
    servicer = QueryBuilderServicer(LocalQueryBuilder())
    async with open_server([servicer], "127.0.0.1:0", settings, status_of=status_of) as server:
        for caller in (("client", "client.token"), ("evaluator",), ("worker",)):
            calls_as(*caller)
            assert await ask(server.target) == "Who is it?"
        for stranger in ("client", "generator"):
            calls_as(stranger)
            with pytest.raises(Unauthenticated):
                await ask(server.target)
