"""Cached description of a TGI server."""

import time
from collections.abc import Awaitable, Callable

from scaar.core.errors import NotFound
from scaar.generator.engines.tgi_server.client import ServerInfo

CACHE_S = 10.0
"""Seconds for which a description is cached."""


class TgiModel:
    """The response of ``/info``, cached.

    A server has one model while it runs, but an address may move to another server. So ``/info``
    is requested again after :data:`CACHE_S` and after a failed call.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[ServerInfo]],
        *,
        name: str | None,
        server: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """``name`` is the expected model; None accepts any."""
        self._ask = ask
        self._name = name
        self._server = server
        self._now = now
        self._said: tuple[float, ServerInfo] | None = None

    async def current(self) -> ServerInfo:
        """Return the cached description, or a new one if it is outdated.

        Raises:
            NotFound: the server serves another model.
        """
        if self._said is not None and self._now() - self._said[0] < CACHE_S:
            return self._said[1]
        return await self.refreshed()

    async def refreshed(self) -> ServerInfo:
        """Request the description.

        Raises:
            NotFound: the server serves another model.
        """
        asked_at, info = self._now(), await self._ask()
        if self._name is not None and info.model_id != self._name:
            self.invalidate()
            raise NotFound(f"{self._server} serves {info.model_id}, not {self._name}")
        self._said = asked_at, info
        return info

    def invalidate(self) -> None:
        """Drop the cached description."""
        self._said = None
