"""Protection of the pages: headers of every response, and requests from other sites."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy: nothing inline, and nothing from other origins."""
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Protection:
    """Adds the headers, and rejects requests that change something from pages of other sites.

    There are no sessions and no cookies. A browser could still send credentials of a proxy, so that
    its ``Sec-Fetch-Site`` and ``Origin`` decide.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        if scope["method"] not in _SAFE and not _of_this_site(Headers(scope=scope)):
            response = PlainTextResponse("the request comes from another site", 403)
            await response(scope, receive, protected)
            return
        await self._app(scope, receive, protected)


def _of_this_site(headers: Headers) -> bool:
    if site := headers.get("sec-fetch-site"):
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    # Programs send neither header, and no credentials that they do not have.
    return origin is None or origin.partition("://")[2] == headers.get("host", "")
