"""Requests of aiohttp that a closed connection does not fail."""

import io
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import aiohttp

from scaar.http_client import KEPT_S


class HttpRequests:
    """Requests over kept connections.

    A server may close an idle connection at the moment at which the next request is sent. A request
    on a reused connection that ends before the headers of a response are complete is sent once
    more, over a connection of its own. So requests must not change anything on the server.
    """

    def __init__(self, kept: aiohttp.ClientSession, fresh: aiohttp.ClientSession) -> None:
        """``kept`` reports reuse, as :func:`open_requests` sets up; ``fresh`` never reuses."""
        self._kept, self._fresh = kept, fresh

    @asynccontextmanager
    async def response(
        self,
        method: str,
        url: str,
        *,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request, and yield the response, whose body is not read yet.

        Redirects are not followed: they would send the body and the key to another server.

        Raises:
            aiohttp.ClientError, OSError: there is no response.
        """
        given: Any = {"headers": headers, "allow_redirects": False}
        call = SimpleNamespace(reused=False)
        try:
            response = await self._kept.request(
                method, url, data=_parts(data), trace_request_ctx=call, **given
            )
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
            if not call.reused:
                raise
            response = await self._fresh.request(method, url, data=_parts(data), **given)
        async with response:
            yield response


@asynccontextmanager
async def open_requests(
    *,
    limit: int = 0,
    tls: ssl.SSLContext | None = None,
    connect_timeout_s: float | None = None,
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[HttpRequests]:
    """Open a client of servers for the duration of the block.

    ``limit`` bounds the concurrent connections; 0 is no limit. ``tls`` is the context for ``https``
    servers; None trusts the system's authorities. Only connecting is limited in time. ``headers``
    are sent with every request.
    """
    context = tls or True
    reuse = aiohttp.TraceConfig()
    reuse.on_connection_reuseconn.append(_mark_reuse)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout_s)
    given: Any = {"headers": headers, "timeout": timeout}
    async with (
        aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=limit, ssl=context, keepalive_timeout=KEPT_S),
            trace_configs=[reuse],
            **given,
        ) as kept,
        aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=limit, ssl=context, force_close=True), **given
        ) as fresh,
    ):
        yield HttpRequests(kept, fresh)


def _parts(data: bytes | None) -> io.BytesIO | None:
    """Return the body as a file, which is sent in parts if it is long."""
    return None if data is None else io.BytesIO(data)


async def _mark_reuse(
    _session: aiohttp.ClientSession,
    context: SimpleNamespace,
    _parameters: aiohttp.TraceConnectionReuseconnParams,
) -> None:
    context.trace_request_ctx.reused = True
