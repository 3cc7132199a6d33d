"""Addresses of lab servers."""

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
    """Serve the application until the block ends, and yield its URL.

    Requests of clients that disconnect are cancelled. With ``tls`` the URL is ``https``.

    Raises:
        BackendUnavailable: the address is in use.
    """
    app.middlewares.append(_disconnected_clients)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, ssl_context=tls).start()
        except OSError as error:
            raise BackendUnavailable(f"cannot listen on {host}:{port}: {error.strerror}") from error
        bound_host, bound_port = runner.addresses[0][:2]
        yield f"{'https' if tls else 'http'}://{bound_host}:{bound_port}"
    finally:
        await runner.cleanup()


@web.middleware
async def _disconnected_clients(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Ignore clients that disconnect when their response starts, which is not an error."""
    try:
        return await handler(request)
    except ConnectionResetError:
        return web.Response()


def host_and_port(address: str) -> tuple[str, int]:
    """Split an address into host and port.

    Raises:
        InvalidRequest: the address is not ``host:port``.
    """
    host, _, port = address.rpartition(":")
    if not host or not (port.isdecimal() and int(port) < 65_536):
        raise InvalidRequest.of("--address", f"must be host:port, not {address!r}")
    return host, int(port)
