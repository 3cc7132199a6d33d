"""TLS credentials and bearer token of a channel."""

import re
from collections.abc import Callable

import grpc

from scaar.core.errors import InvalidRequest
from scaar.runtime.renewing_channel import CredentialsSource
from scaar.runtime.tls import TlsFiles
from scaar.runtime.watched_files import WatchedFiles

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def channel_credentials(
    files: TlsFiles, token: Callable[[], str] | None = None
) -> CredentialsSource:
    """Return a source of channel credentials that reloads files when they change.

    Blocks while it reads files: now, and after a change.

    Raises:
        InvalidRequest: naming the setting whose file is unusable.
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
    """Return credentials that also send the current token with every call."""
    calls = grpc.metadata_call_credentials(_Bearer(token), "bearer")
    return grpc.composite_channel_credentials(credentials, calls)


def checked_token(name: str, token: str) -> str:
    """Validate a bearer token; ``name`` is the name of its setting.

    Raises:
        InvalidRequest: the token has characters that are not allowed.
    """
    if not _TOKEN.fullmatch(token):
        text = "must be a bearer token: letters, digits and -._~+/, and = only at the end"
        raise InvalidRequest.of(name, text)
    return token


class _Bearer(grpc.AuthMetadataPlugin):
    """Adds the token to the metadata of a call."""

    def __init__(self, token: Callable[[], str]) -> None:
        self._token = token

    def __call__(
        self, context: grpc.AuthMetadataContext, callback: grpc.AuthMetadataPluginCallback
    ) -> None:
        callback((("authorization", f"Bearer {self._token()}"),), None)
