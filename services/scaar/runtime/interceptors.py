"""What stands before every call of a server: its errors told rightly, its time bounded."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from scaar.core.errors import DeadlineExceeded, InvalidRequest, ScaarError

_LOGGER = logging.getLogger(__name__)

Context = grpc.aio.ServicerContext[Any, Any]
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behavior = Callable[[Any, Context], Awaitable[Any]]
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable["Handler | None"]]
StatusOf = Callable[[ScaarError], tuple[grpc.StatusCode, str, tuple[tuple[str, bytes], ...]]]


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Ends calls with the status of their error; the outermost interceptor.

    An exception that is no condition of scaar's becomes INTERNAL: its text goes to the log and
    not to the caller.
    """

    def __init__(self, status_of: StatusOf) -> None:
        self._status_of = status_of

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        method = handler_call_details.method
        return _around(
            await continuation(handler_call_details),
            lambda behavior: self._guarded(behavior, method),
        )

    def _guarded(self, behavior: Behavior, method: str) -> Behavior:
        async def guarded(request: Any, context: Context) -> Any:
            try:
                return await behavior(request, context)
            except ScaarError as error:
                code, message, trailing = self._status_of(error)
            except (grpc.aio.AbortError, grpc.aio.InternalError):
                # An abort goes on its way; the other is a message to a client that has gone.
                raise
            except Exception:
                _LOGGER.exception("%s failed, request id %s", method, _request_id(context))
                code, message, trailing = self._status_of(ScaarError("internal error"))
            await context.abort(code, message, trailing)

        return guarded


class DeadlineInterceptor(grpc.aio.ServerInterceptor):
    """Bounds the time of every call; one of gRPC's own services may take as long as it likes."""

    def __init__(self, max_call_s: float) -> None:
        self._max_call_s = max_call_s

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        handler = await continuation(handler_call_details)
        if handler_call_details.method.startswith("/grpc."):
            return handler
        return _around(handler, self._bounded)

    def _bounded(self, behavior: Behavior) -> Behavior:
        async def bounded(request: Any, context: Context) -> Any:
            try:
                async with asyncio.timeout(self._max_call_s) as limit:
                    return await behavior(request, context)
            except TimeoutError as error:
                if not limit.expired():
                    raise
                text = f"the call took longer than the {self._max_call_s:g} s that it may"
                raise DeadlineExceeded(text) from error

        return bounded


def _request_id(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == "x-request-id":
            return str(value)
    return "not given"


def _around(handler: "Handler | None", wrap: Callable[[Behavior], Behavior]) -> "Handler | None":
    """The handler with its behavior wrapped; decoding the request is part of the behavior."""
    if handler is None:
        return None
    serialize, decode = handler.response_serializer, handler.request_deserializer
    if handler.request_streaming:
        if handler.response_streaming:
            behavior = wrap(_awaited(handler.stream_stream))
            return grpc.stream_stream_rpc_method_handler(behavior, decode, serialize)
        behavior = wrap(_awaited(handler.stream_unary))
        return grpc.stream_unary_rpc_method_handler(behavior, decode, serialize)
    if handler.response_streaming:
        behavior = wrap(_decoding(_awaited(handler.unary_stream), decode))
        return grpc.unary_stream_rpc_method_handler(behavior, None, serialize)
    behavior = wrap(_decoding(_awaited(handler.unary_unary), decode))
    return grpc.unary_unary_rpc_method_handler(behavior, None, serialize)


def _awaited(behavior: Any) -> Behavior:
    """The behavior as a coroutine function.

    gRPC leaves the generator of a stream that is cancelled to the garbage collector; this closes
    it there and then.
    """
    if not inspect.isasyncgenfunction(behavior):
        return behavior  # type: ignore[no-any-return]

    async def write_all(request: Any, context: Context) -> None:
        async with aclosing(behavior(request, context)) as responses:
            async for response in responses:
                await context.write(response)

    return write_all


def _decoding(behavior: Behavior, decode: Callable[[bytes], Any] | None) -> Behavior:
    if decode is None:
        return behavior

    async def decoding(request: bytes, context: Context) -> Any:
        try:
            message = decode(request)
        except DecodeError as error:
            raise InvalidRequest.of("request", "is not a message of the contract") from error
        return await behavior(message, context)

    return decoding
