"""Paths of requests."""

from starlette.types import ASGIApp, Receive, Scope, Send


class WithoutFinalSlash:
    """Answers paths that begin with one of ``prefixes`` without the slash at their end.

    A redirect would name the scheme and host of the request, which a proxy may have changed.
    """

    def __init__(self, app: ASGIApp, *, prefixes: tuple[str, ...]) -> None:
        self._app = app
        self._prefixes = prefixes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(self._prefixes):
            # In place: what is outside reads the route that is found.
            scope["path"] = scope["path"].rstrip("/")
        await self._app(scope, receive, send)
