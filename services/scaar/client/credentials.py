"""What a client's channel is opened with, from what its opener gives."""

from pathlib import Path

import grpc

from scaar.core.errors import InvalidRequest
from scaar.runtime.channel_tls import channel_credentials, checked_token, with_token
from scaar.runtime.tls import TlsFiles, TlsNames

_NAMES = TlsNames("ca_file", "cert_file", "key_file")
_File = Path | str | None


def client_credentials(
    given: grpc.ChannelCredentials | None,
    files: tuple[_File, _File, _File],
    token: str | None,
) -> grpc.ChannelCredentials | None:
    """The credentials of CA, certificate and key, or those given; None for plaintext.

    Raises:
        InvalidRequest: naming what cannot be used, or does not go together.
    """
    ca, cert, key = (None if file is None else Path(file) for file in files)
    if any(file is not None for file in files):
        if given is not None:
            raise InvalidRequest.of("credentials", "go without ca_file, cert_file and key_file")
        given = channel_credentials(TlsFiles("", ca, cert, key, names=_NAMES))
    if token is None:
        return given
    if given is None:
        told = "goes by TLS only: give ca_file, or credentials that trust the system's authorities"
        raise InvalidRequest.of("token", told)
    constant = checked_token("token", token)
    return with_token(given, lambda: constant)
