"""The check of the ``Host`` of requests."""

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.http_server.hosts import HostRule
from scaar.http_server.requests import HEALTH_PATHS

_SHOWN_CHARACTERS = 255


class HostCheck:
    """Rejects requests for hosts that the rule does not accept with 421 (Misdirected Request).

    The response is ``error_response`` with an error that names the host and the ``setting`` with
    the allowed ones. Health checks pass.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        rule: HostRule,
        setting: str,
        error_response: Callable[[ScaarError], Response],
    ) -> None:
        self._app = app
        self._rule = rule
        self._setting = setting
        self._error_response = error_response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in HEALTH_PATHS:
            hosts = Headers(scope=scope).getlist("host")
            if not self._rule.accepts(hosts, scheme=scope.get("scheme", "http")):
                await self._misdirected(hosts)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _misdirected(self, hosts: list[str]) -> Response:
        shown = ", ".join(hosts)[:_SHOWN_CHARACTERS]
        text = f"must be a host of this server, not {shown!r}: allow other hosts by {self._setting}"
        response = self._error_response(InvalidRequest.of("header host", text))
        response.status_code = 421
        return response
