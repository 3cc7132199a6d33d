"""What a client's channel is opened with, from what its opener gives."""

from collections.abc import Callable
from pathlib import Path

import grpc

from scaar.core.errors import InvalidRequest
from scaar.runtime.channel_tls import channel_credentials, checked_token, with_token
from scaar.runtime.renewing import CredentialsSource
from scaar.runtime.tls import TlsFiles, TlsNames

_NAMES = TlsNames("ca_file", "cert_file", "key_file")
_File = Path | str | None


def client_credentials(
    given: grpc.ChannelCredentials | None,
    files: tuple[_File, _File, _File],
    token: str | None,
) -> grpc.ChannelCredentials | CredentialsSource | None:
    """The credentials of CA, certificate and key, or those given; None for plaintext.

    Raises:
        InvalidRequest: naming what cannot be used, or does not go together.
    """
    ca, cert, key = (None if file is None else Path(file) for file in files)
    if any(file is not None for file in files):
        if given is not None:
            raise InvalidRequest.of("credentials", "go without ca_file, cert_file and key_file")
        named = TlsFiles("", ca, cert, key, names=_NAMES)
        return channel_credentials(named, None if token is None else _constant(token))
    if token is None:
        return given
    if given is None:
        told = "goes by TLS only: give ca_file, or credentials that trust the system's authorities"
        raise InvalidRequest.of("token", told)
    return with_token(given, _constant(token))


def _constant(token: str) -> Callable[[], str]:
    checked = checked_token("token", token)
    return lambda: checked
