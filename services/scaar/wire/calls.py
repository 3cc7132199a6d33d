"""Calls of a client: every one bounded, cancelled when left, its errors those of the core."""

from collections.abc import AsyncGenerator, Callable
from typing import Any, TypeVar

import grpc

from scaar.core.budget import CALL_MARGIN_S, time_left
from scaar.core.errors import DeadlineExceeded, InvalidRequest, ScaarError
from scaar.wire.status import error_of

REQUEST_ID_KEY = "x-request-id"

_Message = TypeVar("_Message")
_Value = TypeVar("_Value")


def timeout_within(cap_s: float, target: str) -> float:
    """The seconds that a call made now may take: its cap, and no more than there is time for.

    Raises:
        DeadlineExceeded: there is none.
    """
    left = time_left()
    if left is None:
        return cap_s
    if left <= CALL_MARGIN_S:
        raise DeadlineExceeded(f"no time is left to ask {target}", target=target)
    return min(cap_s, left - CALL_MARGIN_S)


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
    messages: Any = aiter(call)
    try:
        async for message in messages:
            yield _understood(message, read, target)
    except grpc.aio.AioRpcError as error:
        raise error_of(error, target) from error
    finally:
        call.cancel()
        # An iterator that was left and its call hold one another, and their connection with them.
        await messages.aclose()


def _understood(message: _Message, read: Callable[[_Message], _Value], target: str) -> _Value:
    """The message read; one that cannot be is the service's fault and not the caller's."""
    try:
        return read(message)
    except InvalidRequest as error:
        text = f"{target} answered what is not understood: {error.message}"
        raise ScaarError(text, target=target) from error
