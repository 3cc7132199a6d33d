"""Handlers of a server's methods, wrapped: what every interceptor here is made of."""

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
"""How the methods of gRPC's own services begin: health and reflection."""

LARGE_MESSAGE_BYTES = 16 * 1024
"""A request above this size is decoded in a thread, so that the event loop stays free."""


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Stands around every call but those whose method begins with ``PASSED_BY``."""

    PASSED_BY = GRPC_OWN

    @abstractmethod
    def around(self, behavior: Behavior, method: str) -> Behavior:
        """The behavior of calls of a method, ``/service/method``, with what stands around it."""

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if method.startswith(self.PASSED_BY):
            return handler
        return wrapped(handler, lambda behavior: self.around(behavior, method))


def wrapped(handler: "Handler | None", wrap: Callable[[Behavior], Behavior]) -> "Handler | None":
    """The handler with its behavior wrapped; decoding the request is part of the behavior."""
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
    """The behavior as a coroutine function.

    gRPC leaves the generator of a stream that is cancelled to the garbage collector; this closes
    it there and then. The next response is asked for when the one before is on its way, so that a
    client that reads slowly holds up what makes them.
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
