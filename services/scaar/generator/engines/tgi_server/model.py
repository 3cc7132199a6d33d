"""Which model a TGI server serves, and what it takes: as it last said, and said again in doubt."""

import time
from collections.abc import Awaitable, Callable

from scaar.core.errors import NotFound
from scaar.generator.engines.tgi_server.client import ServerInfo

HELD_S = 10.0
"""Seconds for which what a server said of itself is taken to hold."""


class TgiModel:
    """What the server says at ``/info``.

    A server has one model as long as it runs, and an address may come to another server. So it is
    asked again when what it said is old, and when a call of it failed since.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[ServerInfo]],
        *,
        name: str | None,
        server: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """``name`` is the model that must be there; any where it is None."""
        self._ask = ask
        self._name = name
        self._server = server
        self._now = now
        self._said: tuple[float, ServerInfo] | None = None

    async def described(self) -> ServerInfo:
        """What the server said, asked again where that is old or in doubt.

        Raises:
            NotFound: the server has another model than the one named.
        """
        if self._said is not None and self._now() - self._said[0] < HELD_S:
            return self._said[1]
        return await self.asked()

    async def asked(self) -> ServerInfo:
        """What the server says now.

        Raises:
            NotFound: the server has another model than the one named.
        """
        asked_at, info = self._now(), await self._ask()
        if self._name is not None and info.model_id != self._name:
            self.doubt()
            raise NotFound(f"{self._server} serves {info.model_id}, not {self._name}")
        self._said = asked_at, info
        return info

    def doubt(self) -> None:
        """Has the server asked again before it is described."""
        self._said = None
