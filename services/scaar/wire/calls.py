"""Calls of a client: every one bounded, cancelled when left, its errors those of the core."""

from collections.abc import AsyncGenerator, Callable
from typing import Any, TypeVar

import grpc

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.wire.status import error_of

REQUEST_ID_KEY = "x-request-id"

_Message = TypeVar("_Message")
_Value = TypeVar("_Value")


async def answered(
    call: grpc.aio.UnaryUnaryCall[Any, _Message] | grpc.aio.StreamUnaryCall[Any, _Message],
    read: Callable[[_Message], _Value],
    target: str,
) -> _Value:
    """What the call answers, read. Leaving the await cancels the call."""
    try:
        return _understood(await call, read, target)
    except grpc.aio.AioRpcError as error:
        raise error_of(error, target) from error
    finally:
        call.cancel()


async def streamed(
    call: grpc.aio.UnaryStreamCall[Any, _Message],
    read: Callable[[_Message], _Value],
    target: str,
) -> AsyncGenerator[_Value, None]:
    """What the call streams, read one by one. Closing the generator cancels the call."""
    try:
        async for message in call:
            yield _understood(message, read, target)
    except grpc.aio.AioRpcError as error:
        raise error_of(error, target) from error
    finally:
        call.cancel()


def _understood(message: _Message, read: Callable[[_Message], _Value], target: str) -> _Value:
    """The message read; one that cannot be is the service's fault and not the caller's."""
    try:
        return read(message)
    except InvalidRequest as error:
        text = f"{target} answered what is not understood: {error.message}"
        raise ScaarError(text, target=target) from error
