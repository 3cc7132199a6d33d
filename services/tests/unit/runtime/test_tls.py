"""TLS files of a client: an invalid file is reported with its setting."""

import ssl
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.runtime.tls import TlsFiles
from scaar.testing.certificates import Authority, Issued


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def issued(authority: Authority) -> Issued:
    return authority.issue("client")


def test_the_system_is_trusted_where_no_file_is_named() -> None:
    context = TlsFiles("X_").context()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_file_of_certificates_is_trusted_in_place_of_the_systems(authority: Authority) -> None:
    assert len(TlsFiles("X_", authority.ca).context().get_ca_certs()) == 1


def test_the_contents_are_those_of_the_files(authority: Authority, issued: Issued) -> None:
    files = TlsFiles("X_", authority.ca, issued.cert, issued.key)
    paths = (authority.ca, issued.cert, issued.key)
    assert files.contents() == tuple(path.read_bytes() for path in paths)
    assert TlsFiles("X_").contents() == (None, None, None)


def test_an_invalid_file_is_reported_with_its_setting(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    missing, empty, other = tmp_path / "none", tmp_path / "empty", authority.issue("other")
    empty.touch()
    encrypted = tmp_path / "encrypted"
    head = "-----\nProc-Type: 4,ENCRYPTED\n"
    encrypted.write_text(issued.key.read_text().replace("-----\n", head))
    wrong = {
        TlsFiles("X_", missing): f"X_CA_FILE: {missing} cannot be read: No such file or directory",
        TlsFiles("X_", tmp_path): f"X_CA_FILE: {tmp_path} cannot be read: Is a directory",
        TlsFiles("X_", empty): f"X_CA_FILE: {empty} contains no certificates in PEM",
        TlsFiles("X_", issued.key): f"X_CA_FILE: {issued.key} contains no certificates in PEM",
        TlsFiles("X_", None, missing, issued.key): f"X_CLIENT_CERT_FILE: {missing} cannot be read",
        TlsFiles("X_", None, issued.cert, missing): f"X_CLIENT_KEY_FILE: {missing} cannot be read",
        TlsFiles(
            "X_", None, issued.cert
        ): "X_CLIENT_KEY_FILE: must be set together with CLIENT_CERT_FILE",
        TlsFiles(
            "X_", None, None, issued.key
        ): "X_CLIENT_CERT_FILE: must be set together with CLIENT_KEY",
        TlsFiles("X_", None, issued.cert, other.key): f"X_CLIENT_KEY_FILE: {other.key} is not the",
        TlsFiles("X_", None, issued.cert, empty): f"X_CLIENT_KEY_FILE: {empty} is not the unenc",
        TlsFiles("X_", None, issued.cert, encrypted): f"X_CLIENT_KEY_FILE: {encrypted} is not the",
    }
    for files, found_events in wrong.items():
        with pytest.raises(InvalidRequest) as caught:
            files.context()
        assert caught.value.message.startswith(found_events)
