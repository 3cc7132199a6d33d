"""Reading back ends for a page: what cannot be read becomes a notice, not the end of the page."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from scaar.console import statuses
from scaar.core.errors import ScaarError

P = TypeVar("P")
T = TypeVar("T")
_OF_THE_REQUEST = range(400, 410)
_SHOWN = {"records": "records service"}
UNAVAILABLE = 503
NEEDED_S, OPTIONAL_S = 30.0, 3.0
"""Maximum time, in seconds, of a call that a page needs, and of one that it can do without."""


def status_of(error: ScaarError) -> int:
    """Return the HTTP status of an error: 503 if the request is not its cause."""
    status = statuses.status_of(error)
    return status if status in _OF_THE_REQUEST else UNAVAILABLE


async def loaded_or(default: T, call: Awaitable[T]) -> T:
    """Return the result of a call, or the default if it fails or takes long."""
    try:
        async with asyncio.timeout(OPTIONAL_S):
            return await call
    except (ScaarError, TimeoutError):
        return default


class Loading:
    """The notices and the HTTP status of a page that reads several back ends.

    ``status`` is that of the first failure of a back end that the page cannot do without.
    """

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.status = 200

    async def need(
        self,
        name: str,
        port: P | None,
        call: Callable[[P], Awaitable[T]],
        *,
        timeout_s: float = NEEDED_S,
    ) -> T | None:
        """Return the result of a call that the page cannot do without; None if it fails."""
        return await self._load(name, port, call, timeout_s=timeout_s, needed=True)

    async def want(self, name: str, port: P | None, call: Callable[[P], Awaitable[T]]) -> T | None:
        """Return the result of a call that the page can do without; None if it fails."""
        return await self._load(name, port, call, timeout_s=OPTIONAL_S, needed=False)

    async def _load(
        self,
        name: str,
        port: P | None,
        call: Callable[[P], Awaitable[T]],
        *,
        timeout_s: float,
        needed: bool,
    ) -> T | None:
        shown = _SHOWN.get(name, name)
        if port is None:
            setting = f"SCAAR_CONSOLE_{name.upper()}_TARGET"
            self._fail(f"The {shown} is not configured: set {setting}.", UNAVAILABLE, needed)
            return None
        try:
            async with asyncio.timeout(timeout_s):
                return await call(port)
        except TimeoutError:
            text = f"The {shown} did not answer within {timeout_s:g} s. Reload the page later."
            self._fail(text, UNAVAILABLE, needed)
        except ScaarError as error:
            status = status_of(error)
            text = "cannot be read" if status == UNAVAILABLE else "rejects the request"
            self._fail(f"The {shown} {text}: {error.message}", status, needed)
        return None

    def _fail(self, notice: str, status: int, needed: bool) -> None:
        if notice not in self.notices:
            self.notices.append(notice)
        if needed and self.status == 200:
            self.status = status
