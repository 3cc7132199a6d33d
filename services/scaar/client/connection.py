"""The channel of a client: its target, credentials and metadata, checked before it is opened."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import grpc

from scaar.client.open_state import OpenState
from scaar.client.requests import sendable_metadata
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.value_types import wrong_path, wrong_types
from scaar.runtime.channel_tls import channel_credentials, checked_token, with_token
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.renewing_channel import CredentialsSource
from scaar.runtime.targets import check_target
from scaar.runtime.tls import TlsFiles, TlsNames
from scaar.runtime.wrapped_channel import WrappedChannel

MAX_TIMEOUT_S = 86_400.0
_DEFAULT_TIMEOUT_S = 3600.0
# The service retries the calls of its own dependencies: one retry by the client is enough.
_CHANNEL = ChannelSettings(attempts=2)
_NAMES = TlsNames("ca_file", "cert_file", "key_file")


class ConnectionOptions(TypedDict, total=False):
    """Keywords of the functions that open a client."""

    credentials: grpc.ChannelCredentials | None
    """Credentials of the channel, such as ``grpc.ssl_channel_credentials()``, in place of the
    files. Default: plaintext, or TLS if ``ca_file`` is given."""
    metadata: Mapping[str, str | bytes] | None
    """Metadata that is sent with every call."""
    timeout_s: float
    """Maximum duration of a call, in seconds, (0, 86400]. Default: 3600."""
    ca_file: Path | str | None
    """PEM file of the certificate authority that the client trusts. Enables TLS."""
    cert_file: Path | str | None
    """PEM file of the client's certificate, for mutual TLS."""
    key_file: Path | str | None
    """PEM file of the key of the client's certificate."""
    token: str | None
    """Bearer token that is sent with every call. Requires TLS."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An open channel, and what the calls on it carry."""

    channel: grpc.aio.Channel
    metadata: tuple[tuple[str, str | bytes], ...]
    timeout_s: float


class ClientChannel(WrappedChannel):
    """Channel whose calls raise ``RuntimeError`` once it is closed, those in progress too."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        super().__init__(channel)
        self._state = OpenState()

    async def close(self, grace: float | None = None) -> None:
        self._state.closed = True
        await super().close(grace)

    def _multi_callable(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
        start = getattr(self._channel, kind)(*method, **options)

        def begin(*request: Any, **given: Any) -> _ClientCall:
            with self._state.required():
                return _ClientCall(start(*request, **given), self._state)

        return begin


class _ClientCall:
    """Call of a client; it can be used like a call of grpc.aio."""

    def __init__(self, call: Any, state: OpenState) -> None:
        self._call, self._state = call, state

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._answer().__await__()

    async def __aiter__(self) -> AsyncGenerator[Any, None]:
        with self._state.required():
            async with aclosing(aiter(self._call)) as messages:
                async for message in messages:
                    yield message

    async def _answer(self) -> Any:
        with self._state.required():
            return await self._call


@asynccontextmanager
async def open_connection(
    target: str,
    service: str,
    *,
    credentials: grpc.ChannelCredentials | None = None,
    metadata: Mapping[str, str | bytes] | None = None,
    timeout_s: float = _DEFAULT_TIMEOUT_S,
    ca_file: Path | str | None = None,
    cert_file: Path | str | None = None,
    key_file: Path | str | None = None,
    token: str | None = None,
) -> AsyncIterator[Connection]:
    """Open a channel to the ``service`` at ``dns:///host:port``. The first call connects it.

    Files that change are read again before the next call.

    Raises:
        InvalidRequest: the target, a file, the metadata, the token or the timeout is invalid.
    """
    wrong = [*wrong_types(target, str, "target"), *wrong_types(timeout_s, float, "timeout_s")]
    if any(wrong_types(token, str | None, "token")):
        # Without its value, which is a secret.
        wrong.append(Violation("token", "must be text"))
    given = {"ca_file": ca_file, "cert_file": cert_file, "key_file": key_file}
    for name, file in given.items():
        if file is not None:
            wrong += wrong_path(file, name)
    if wrong:
        raise InvalidRequest(wrong)
    check_target(target)
    if not 0 < timeout_s <= MAX_TIMEOUT_S:
        text = f"must be in (0, {MAX_TIMEOUT_S:g}], not {timeout_s:g}"
        raise InvalidRequest.of("timeout_s", text)
    sent = sendable_metadata(metadata or {})
    files = [None if file is None else Path(file) for file in given.values()]
    secured = _credentials(credentials, files, token)
    async with (
        open_channel(target, service=service, settings=_CHANNEL, credentials=secured) as channel,
        ClientChannel(channel) as closable,
    ):
        yield Connection(closable, sent, timeout_s)


def _credentials(
    given: grpc.ChannelCredentials | None, files: list[Path | None], token: str | None
) -> grpc.ChannelCredentials | CredentialsSource | None:
    """Return the credentials of CA, certificate and key, or those given; None for plaintext."""
    if any(files):
        if given is not None:
            text = "cannot be combined with ca_file, cert_file or key_file"
            raise InvalidRequest.of("credentials", text)
        ca, cert, key = files
        named = TlsFiles("", ca, cert, key, names=_NAMES)
        return channel_credentials(named, None if token is None else _constant(token))
    if token is None:
        return given
    if given is None:
        text = "requires TLS: give ca_file, or credentials that trust the system's authorities"
        raise InvalidRequest.of("token", text)
    return with_token(given, _constant(token))


def _constant(token: str) -> Callable[[], str]:
    checked = checked_token("token", token)
    return lambda: checked
