"""What every request passes: its id, its limits, its log record and its metrics."""

import logging
import time
import uuid
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scaar.core.calls.context import CallContext, in_call
from scaar.core.errors import InvalidRequest, Overloaded, ScaarError
from scaar.core.observers import UNOBSERVED_REQUESTS, RequestObserver
from scaar.runtime.admission import Admission

REQUEST_ID = "x-request-id"
HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
_MAX_ID_CHARACTERS = 128
_UNKNOWN_ROUTE = "unknown"
# No response was sent; nginx logs the same number for it.
_CLIENT_LEFT = 499
_LOGGER = logging.getLogger("scaar.calls")


class Requests:
    """Admits requests within the limits, and names, logs and counts them.

    The id is that of the header ``x-request-id``, else a new one; every response has it. Requests
    over a limit are rejected by ``error_response``. Health checks pass.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        admission: Admission,
        max_body_bytes: int,
        error_response: Callable[[ScaarError], Response],
        observer: RequestObserver = UNOBSERVED_REQUESTS,
    ) -> None:
        self._app = app
        self._admission = admission
        self._max_body_bytes = max_body_bytes
        self._error_response = error_response
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in HEALTH_PATHS:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = headers.get(REQUEST_ID, "")
        if not _valid(request_id):
            request_id = uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = time.monotonic(), 0

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        self._observer.on_request_begin()
        try:
            with in_call(CallContext(request_id)):
                await self._admitted(scope, receive, answered, headers)
        except Exception:
            _LOGGER.exception("%s failed", _route_of(scope))
            if not status:
                response = self._error_response(ScaarError("internal error"))
                await response(scope, receive, answered)
        finally:
            seconds = time.monotonic() - started
            status = status or _CLIENT_LEFT
            route = _route_of(scope)
            _LOGGER.info("%s %s %d %.1f ms", scope["method"], route, status, seconds * 1000)
            self._observer.on_request_end(f"{scope['method']} {route}", status, seconds)

    async def _admitted(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        limit = self._max_body_bytes
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            await self._too_large(scope, receive, send)
            return
        received, started, rejected = 0, False, False

        async def bounded() -> Message:
            nonlocal received, rejected
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                rejected = True
                # What the application reads now is the end of its client.
                return {"type": "http.disconnect"}
            return message

        async def begun(message: Message) -> None:
            nonlocal started
            if not rejected:
                started = True
                await send(message)

        try:
            with self._admission.slot():
                await self._app(scope, bounded, begun)
        except Overloaded as error:
            await self._error_response(error)(scope, receive, send)
            return
        except ClientDisconnect:
            pass
        if rejected and not started:
            await self._too_large(scope, receive, send)

    async def _too_large(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = f"the body must have at most {self._max_body_bytes:,} bytes"
        response = self._error_response(InvalidRequest.of("request", text))
        response.status_code = 413
        await response(scope, receive, send)


def _valid(request_id: str) -> bool:
    fits = 1 <= len(request_id) <= _MAX_ID_CHARACTERS
    return fits and request_id.isascii() and request_id.isprintable()


def _route_of(scope: Scope) -> str:
    """Return the path of the route that served the request, not that of the request."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else _UNKNOWN_ROUTE
