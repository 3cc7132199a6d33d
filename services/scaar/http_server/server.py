"""The HTTP server of a process."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from scaar.core.errors import InvalidRequest
from scaar.runtime.addresses import check_free
from scaar.runtime.settings import ProcessSettings, variable_of
from scaar.runtime.watched_files import WatchedFiles

_BACKLOG = 512
_KEEP_S = 75
"""Time, in seconds, for which an idle connection is kept: longer than clients and the proxies in
front keep theirs, which is 60 s for nginx and most load balancers."""


class Readiness:
    """Whether a server accepts requests: not while it drains."""

    def __init__(self) -> None:
        self.draining = False


@asynccontextmanager
async def serving_app(
    app: ASGIApp, settings: ProcessSettings, *, default_address: str, readiness: Readiness
) -> AsyncIterator[str]:
    """Serve an application until the block ends, then drain and stop as configured.

    Yield the URL with the bound port.

    Raises:
        AlreadyExists: the address is in use.
        InvalidRequest: the address cannot be bound, or a setting or its file is invalid.
    """
    address = settings.address if "address" in settings.model_fields_set else default_address
    cert, key = _certificate(settings)
    config = uvicorn.Config(
        app,
        ssl_certfile=cert,
        ssl_keyfile=key,
        timeout_keep_alive=_KEEP_S,
        timeout_graceful_shutdown=max(1, round(settings.stop_grace_s)),
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
    )
    if cert is not None:
        _load_certificate(config, settings)
    listening = _listen(address)
    host, port = listening.getsockname()[:2]
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.wait(
            {serving, asyncio.create_task(server.ready.wait())},
            return_when=asyncio.FIRST_COMPLETED,
        )
        if serving.done():
            await serving
        shown = f"[{host}]" if ":" in host else host
        yield f"{'https' if cert else 'http'}://{shown}:{port}"
    finally:
        readiness.draining = True
        await asyncio.sleep(settings.drain_s)
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    """A server that reports when it serves, and leaves signals to its caller."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(address: str) -> socket.socket:
    check_free(address)
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio disables Nagle's algorithm, which would delay responses.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, int(port)))
    except OSError as error:
        listening.close()
        text = f"cannot listen on {address!r}: {error.strerror}"
        raise InvalidRequest.of("address", text) from error
    return listening


def _certificate(settings: ProcessSettings) -> tuple[Path | None, Path | None]:
    cert, key = settings.tls_cert_file, settings.tls_key_file
    if (cert is None) != (key is None):
        missing = "tls_key_file" if key is None else "tls_cert_file"
        name = variable_of(type(settings), missing)
        raise InvalidRequest.of(name, "certificate and key are set together")
    return cert, key


def _load_certificate(config: uvicorn.Config, settings: ProcessSettings) -> None:
    """Load the certificate, and load it again before a handshake if its files have changed.

    Raises:
        InvalidRequest: the files cannot be used.
    """
    cert, key = settings.tls_cert_file, settings.tls_key_file
    assert cert is not None
    assert key is not None

    def context() -> ssl.SSLContext:
        try:
            made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            made.load_cert_chain(cert, key)
        except (OSError, ValueError) as error:
            name = variable_of(type(settings), "tls_cert_file")
            text = f"{cert} and its key cannot be used: {error}"
            raise InvalidRequest.of(name, text) from error
        return made

    def use_current(connection: ssl.SSLObject, _name: str, _context: ssl.SSLContext) -> None:
        connection.context = watched.current()

    watched = WatchedFiles([cert, key], context)
    config.load()
    assert config.ssl is not None
    # Called in every handshake, with or without a name of the server.
    config.ssl.sni_callback = use_current
