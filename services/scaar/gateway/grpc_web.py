"""gRPC-Web for browsers: forwards the calls of the contract to the orchestrator, undecoded.

The protocol is that of gRPC's PROTOCOL-WEB.md: a call is an HTTP POST, the status is the last frame
of the body. Requests have one message; responses are one message or a stream of them.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import grpc
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from scaar.core.errors import ScaarError, StreamIncomplete
from scaar.gateway.grpc_web_frames import FrameError, Framing, Trailers, framing_of, too_large
from scaar.gateway.orchestrator import Orchestrator
from scaar.http_server.disconnects import unless_disconnected
from scaar.wire.methods import FORWARDED_METHODS, FORWARDED_SERVICES
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.status import error_of, status_of

EXPOSED_HEADERS = ("grpc-status", "grpc-message", "grpc-status-details-bin")
"""Response headers of gRPC-Web that scripts of other origins may read."""
MAX_MESSAGE_BYTES = 2 * OrchestratorServicer.limits.max_request_bytes
"""Maximum size of the message of a request. Up to it, errors of a request that is too large name
its field. In binary and in base64, the body is within the default ``max_body_bytes``."""
_DETAILS_KEY = "grpc-status-details-bin"
_MAX_TIMEOUT_S = 3605.0
_TIMEOUT = re.compile(r"(\d{1,8})([HMSmun])")
_SECONDS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_LOGGER = logging.getLogger(__name__)


def grpc_web_routes(orchestrator: Orchestrator, *, write_timeout_s: float) -> list[Route]:
    """Return a route for each method of the contract, and one for each service's other paths.

    The stream of a client that does not read for ``write_timeout_s`` is closed, and its call is
    cancelled.
    """
    app = GrpcWeb(orchestrator, write_timeout_s=write_timeout_s)
    services = (f"/{each}/{{method}}" for each in sorted(FORWARDED_SERVICES))
    return [Route(path, app) for path in (*FORWARDED_METHODS, *services)]


class GrpcWeb:
    """ASGI application that forwards gRPC-Web to the channel of an orchestrator."""

    def __init__(self, orchestrator: Orchestrator, *, write_timeout_s: float) -> None:
        self._orchestrator = orchestrator
        self._write_timeout_s = write_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        framing = framing_of(request.headers.get("content-type", ""))
        if request.method != "POST" or framing is None:
            await _not_grpc_web(request.method)(scope, receive, send)
            return
        response = _Response(send, framing, self._write_timeout_s)
        try:
            # Without waiting: the path is wrong whatever the message is.
            service = _service_at(request.url.path)
            message = await _message_in(request, framing)
            call = self._call(request, message)
            try:
                await unless_disconnected(receive, _forward(call, response))
            finally:
                call.cancel()
        except (ClientDisconnect, StreamIncomplete):
            return
        except TimeoutError:
            # The server closes the connection of a response that is incomplete.
            _LOGGER.warning("a client read nothing for %g s", self._write_timeout_s)
        except FrameError as error:
            await response.end(error.code, str(error))
        except ScaarError as error:
            await response.end(*status_of(error))
        except grpc.aio.AioRpcError as error:
            await response.end(*_status(error, self._orchestrator.target, service))

    def _call(self, request: Request, message: bytes) -> Any:
        """Return the call. A call with one response is to gRPC a stream that has one message."""
        metadata = self._orchestrator.metadata(
            request.headers, getattr(request.state, "request_id", "")
        )
        start: Any = self._orchestrator.channel.unary_stream(request.url.path)
        return start(message, timeout=_timeout_s(request.headers), metadata=metadata)


class _Response:
    """The response of one call. Its headers are sent with the first frame."""

    def __init__(self, send: Send, framing: Framing, write_timeout_s: float) -> None:
        self._send = send
        self._framing = framing
        self._write_timeout_s = write_timeout_s
        self._started = False

    async def message(self, message: bytes) -> None:
        """Send a message. Returns when the connection can take another one."""
        await self._body(self._framing.message(message))

    async def end(self, code: grpc.StatusCode, text: str, metadata: Trailers = ()) -> None:
        """Send the status, which ends the response."""
        await self._body(self._framing.trailers(code, text, metadata), more=False)

    async def _body(self, data: bytes, *, more: bool = True) -> None:
        if not self._started:
            self._started = True
            # Proxies such as nginx would otherwise collect the messages.
            headers = {
                "content-type": self._framing.content_type,
                "cache-control": "no-store",
                "x-accel-buffering": "no",
            }
            encoded = [(key.encode(), value.encode()) for key, value in headers.items()]
            await self._send({"type": "http.response.start", "status": 200, "headers": encoded})
        async with asyncio.timeout(self._write_timeout_s):
            await self._send({"type": "http.response.body", "body": data, "more_body": more})


async def _forward(call: Any, response: _Response) -> None:
    messages: Any = aiter(call)
    try:
        async for message in messages:
            await response.message(message)
        await response.end(grpc.StatusCode.OK, "", _details_in(await call.trailing_metadata()))
    finally:
        call.cancel()
        # An abandoned iterator and its call reference each other, and keep the connection alive.
        await messages.aclose()


def _service_at(path: str) -> str:
    service = FORWARDED_METHODS.get(path)
    if service is None:
        text = f"the gateway does not forward {path}: it is no method of the contract for clients"
        raise FrameError(grpc.StatusCode.UNIMPLEMENTED, text)
    return service


async def _message_in(request: Request, framing: Framing) -> bytes:
    """Return the message of the request, of which nothing is read beyond the limit."""
    limit = framing.max_body_bytes(MAX_MESSAGE_BYTES)
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large(MAX_MESSAGE_BYTES)
    body = bytearray()
    chunks: AsyncIterator[bytes] = request.stream()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            raise too_large(MAX_MESSAGE_BYTES)
    return framing.message_of(bytes(body), max_bytes=MAX_MESSAGE_BYTES)


def _timeout_s(headers: Headers) -> float:
    """Return the timeout of the header ``grpc-timeout``, at most the longest of an answer."""
    given = headers.get("grpc-timeout")
    if given is None:
        return _MAX_TIMEOUT_S
    found = _TIMEOUT.fullmatch(given)
    if found is None:
        text = "the header grpc-timeout must be at most eight digits and a unit, such as 500m"
        raise FrameError(grpc.StatusCode.INVALID_ARGUMENT, text)
    return min(_MAX_TIMEOUT_S, int(found[1]) * _SECONDS[found[2]])


def _status(
    error: grpc.aio.AioRpcError, target: str, service: str
) -> tuple[grpc.StatusCode, str, tuple[tuple[str, str | bytes], ...]]:
    """Return the status of a call as the caller gets it.

    The status of an orchestrator that is not reached has addresses behind the gateway in its text.
    """
    details = _details_in(error.trailing_metadata())
    unreached = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    if not details and error.code() in unreached:
        return status_of(error_of(error, "the orchestrator", service=service))
    return error.code(), error.details() or "", details


def _details_in(metadata: Any) -> tuple[tuple[str, str | bytes], ...]:
    return tuple((key, value) for key, value in metadata or () if key == _DETAILS_KEY)


def _not_grpc_web(method: str) -> PlainTextResponse:
    if method != "POST":
        text = "a call of gRPC-Web is a POST\n"
        return PlainTextResponse(text, 405, headers={"allow": "POST"})
    types = "application/grpc-web+proto or application/grpc-web-text+proto"
    return PlainTextResponse(f"the content type must be {types}\n", 415)
