"""Where a lab server listens."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Handler

from scaar.core.errors import BackendUnavailable, InvalidRequest


@asynccontextmanager
async def listening(
    app: web.Application, host: str, port: int, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Serves the application; the URL of where. Work for a client that leaves is cancelled.

    With ``tls`` it is served at ``https``.

    Raises:
        BackendUnavailable: something listens there already.
    """
    app.middlewares.append(_whoever_leaves)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, ssl_context=tls).start()
        except OSError as error:
            raise BackendUnavailable(f"cannot listen at {host}:{port}: {error.strerror}") from error
        bound_host, bound_port = runner.addresses[0][:2]
        yield f"{'https' if tls else 'http'}://{bound_host}:{bound_port}"
    finally:
        await runner.cleanup()


@web.middleware
async def _whoever_leaves(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A client may leave as its answer begins: no fault of the server's, and nothing to log."""
    try:
        return await handler(request)
    except ConnectionResetError:
        return web.Response()


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of an address.

    Raises:
        InvalidRequest: it is none.
    """
    host, _, port = address.rpartition(":")
    if not host or not (port.isdecimal() and int(port) < 65_536):
        raise InvalidRequest.of("--address", f"must be host:port, not {address!r}")
    return host, int(port)
