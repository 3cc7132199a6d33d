"""A client of httpx whose requests a closed connection does not fail."""

import ssl
from dataclasses import dataclass
from typing import Any

import httpx2

from scaar.http_client import KEPT_S

_LOST = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)
"""Errors of a connection that was lost after it had been opened."""


class ResendingClient(httpx2.AsyncClient):
    """A client over kept connections.

    It sends a request once more where
    :class:`~scaar.http_client.aiohttp_requests.HttpRequests` does.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, **options: Any) -> None:
        """``tls`` is the context for ``https`` servers; None trusts the system's authorities."""
        verify = tls or httpx2.create_ssl_context()
        super().__init__(verify=verify, limits=httpx2.Limits(keepalive_expiry=KEPT_S), **options)
        # Each of its requests has a connection of its own.
        limits = httpx2.Limits(max_keepalive_connections=0)
        self._fresh = httpx2.AsyncClient(verify=verify, limits=limits, **options)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        call = _Call()
        request.extensions = {**request.extensions, "trace": call.observe}
        try:
            return await super().send(request, **options)
        except _LOST:
            if call.connected or call.answered:
                raise
        return await self._fresh.send(request, **options)

    async def aclose(self) -> None:
        await self._fresh.aclose()
        await super().aclose()


@dataclass(slots=True)
class _Call:
    """A request: whether a connection was opened for it, and whether a response has headers."""

    connected: bool = False
    answered: bool = False

    async def observe(self, event: str, _details: object) -> None:
        self.connected = self.connected or ".connect_" in event
        self.answered = self.answered or event.endswith("receive_response_headers.complete")
