"""The credentials of a channel: whom it trusts, what it shows, and the token of every call."""

import re
from collections.abc import Callable

import grpc

from scaar.core.errors import InvalidRequest
from scaar.runtime.renewing import CredentialsSource
from scaar.runtime.tls import TlsFiles
from scaar.runtime.watched_files import WatchedFiles

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def channel_credentials(
    files: TlsFiles, token: Callable[[], str] | None = None
) -> CredentialsSource:
    """What a channel of TLS is opened with, made anew when a file has changed.

    Blocks while it reads the files: now, and when it finds another one there.

    Raises:
        InvalidRequest: naming the setting whose file cannot be used.
    """

    def read() -> grpc.ChannelCredentials:
        ca, cert, key = files.contents()
        credentials = grpc.ssl_channel_credentials(
            root_certificates=ca, private_key=key, certificate_chain=cert
        )
        return credentials if token is None else with_token(credentials, token)

    return WatchedFiles(files.paths, read).current


def with_token(
    credentials: grpc.ChannelCredentials, token: Callable[[], str]
) -> grpc.ChannelCredentials:
    """The same, and with every call the token that there is then."""
    calls = grpc.metadata_call_credentials(_Bearer(token), "bearer")
    return grpc.composite_channel_credentials(credentials, calls)


def checked_token(name: str, token: str) -> str:
    """The token, if it can be one; ``name`` is that of its setting.

    Raises:
        InvalidRequest: it cannot.
    """
    if not _TOKEN.fullmatch(token):
        told = "must be a bearer token: letters, digits and -._~+/, with = at its end only"
        raise InvalidRequest.of(name, told)
    return token


class _Bearer(grpc.AuthMetadataPlugin):
    """Puts the token into a call's metadata."""

    def __init__(self, token: Callable[[], str]) -> None:
        self._token = token

    def __call__(
        self, context: grpc.AuthMetadataContext, callback: grpc.AuthMetadataPluginCallback
    ) -> None:
        callback((("authorization", f"Bearer {self._token()}"),), None)
