"""Wrapped handlers of a server's methods, the base of all interceptors."""

import asyncio
import inspect
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from scaar.core.errors import InvalidRequest

Context = grpc.aio.ServicerContext[Any, Any]
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behavior = Callable[[Any, Context], Awaitable[Any]]
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable["Handler | None"]]

GRPC_OWN = "/grpc."
"""Prefix of the methods of gRPC's own services: health and reflection."""

LARGE_MESSAGE_BYTES = 16 * 1024
"""Requests above this size are decoded in a thread, off the event loop."""


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Base of interceptors that wrap calls, except methods that start with ``EXEMPT_PREFIX``."""

    EXEMPT_PREFIX = GRPC_OWN

    @abstractmethod
    def around(self, behavior: Behavior, method: str) -> Behavior:
        """Return the wrapped behavior of a method, ``/service/method``."""

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if method.startswith(self.EXEMPT_PREFIX):
            return handler
        return wrapped(handler, lambda behavior: self.around(behavior, method))


def wrapped(handler: "Handler | None", wrap: Callable[[Behavior], Behavior]) -> "Handler | None":
    """Return the handler with its behavior wrapped. Decoding the request is part of it."""
    if handler is None:
        return None
    serialize, decode = handler.response_serializer, handler.request_deserializer
    if handler.request_streaming:
        if handler.response_streaming:
            behavior = wrap(_decoding_each(_awaited(handler.stream_stream), decode))
            return grpc.stream_stream_rpc_method_handler(behavior, None, serialize)
        behavior = wrap(_decoding_each(_awaited(handler.stream_unary), decode))
        return grpc.stream_unary_rpc_method_handler(behavior, None, serialize)
    if handler.response_streaming:
        behavior = wrap(_decoding(_awaited(handler.unary_stream), decode))
        return grpc.unary_stream_rpc_method_handler(behavior, None, serialize)
    behavior = wrap(_decoding(_awaited(handler.unary_unary), decode))
    return grpc.unary_unary_rpc_method_handler(behavior, None, serialize)


def _awaited(behavior: Any) -> Behavior:
    """Return the behavior as a coroutine function.

    gRPC leaves the generator of a cancelled stream to the garbage collector; this closes it
    immediately. The next response is generated after the previous one was sent, so that a slow
    client slows its stream down.
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
        return await behavior(await _decoded(request, decode), context)

    return decoding


def _decoding_each(behavior: Behavior, decode: Callable[[bytes], Any] | None) -> Behavior:
    if decode is None:
        return behavior

    async def messages(requests: AsyncIterator[bytes]) -> AsyncGenerator[Any, None]:
        async for request in requests:
            yield await _decoded(request, decode)

    async def decoding(requests: AsyncIterator[bytes], context: Context) -> Any:
        async with aclosing(messages(requests)) as decoded:
            return await behavior(decoded, context)

    return decoding


async def _decoded(request: bytes, decode: Callable[[bytes], Any]) -> Any:
    try:
        if len(request) > LARGE_MESSAGE_BYTES:
            return await asyncio.to_thread(decode, request)
        return decode(request)
    except DecodeError as error:
        raise InvalidRequest.of("request", "is not a message of the contract") from error
