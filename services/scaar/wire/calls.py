"""Calls of a client: each has a deadline, is cancelled when left, and raises errors of the core."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc

from scaar.core.errors import DeadlineExceeded, InvalidRequest, ScaarError
from scaar.core.loop.budget import CALL_MARGIN_S, remaining_time_s
from scaar.wire.status import error_of

REQUEST_ID_KEY = "x-request-id"

_Message = TypeVar("_Message")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The target of a channel and the full name of the service that is called there."""

    target: str
    service: str

    def __str__(self) -> str:
        return self.target


def timeout_within(max_s: float, target: object) -> float:
    """Return the timeout of a call made now, in seconds: ``max_s``, or the remaining time if less.

    Raises:
        DeadlineExceeded: no time remains.
    """
    remaining = remaining_time_s()
    if remaining is None:
        return max_s
    if remaining <= CALL_MARGIN_S:
        raise DeadlineExceeded(f"no time remains to call {target}", target=str(target))
    return min(max_s, remaining - CALL_MARGIN_S)


async def receive(
    call: grpc.aio.UnaryUnaryCall[Any, _Message] | grpc.aio.StreamUnaryCall[Any, _Message],
    read: Callable[[_Message], _Value],
    endpoint: Endpoint,
) -> _Value:
    """Return the response, converted by ``read``. Leaving the await cancels the call."""
    try:
        return _converted(await call, read, endpoint)
    except grpc.aio.AioRpcError as error:
        raise _failure(error, endpoint) from error
    finally:
        call.cancel()


async def receive_stream(
    call: grpc.aio.UnaryStreamCall[Any, _Message],
    read: Callable[[_Message], _Value],
    endpoint: Endpoint,
) -> AsyncGenerator[_Value, None]:
    """Yield the responses of the call, converted by ``read``. Closing it cancels the call."""
    messages: Any = aiter(call)
    try:
        async for message in messages:
            yield _converted(message, read, endpoint)
    except grpc.aio.AioRpcError as error:
        raise _failure(error, endpoint) from error
    finally:
        call.cancel()
        # An abandoned iterator and its call reference each other, and keep the connection alive.
        await messages.aclose()


def _failure(error: grpc.aio.AioRpcError, endpoint: Endpoint) -> ScaarError:
    """Return the error of a call.

    A server whose clock is ahead by a little cancels a call before the client's deadline.
    """
    remaining = remaining_time_s()
    late = remaining is not None and remaining <= 2 * CALL_MARGIN_S
    if late and error.code() is grpc.StatusCode.CANCELLED:
        return DeadlineExceeded(f"{endpoint} did not answer in time", target=endpoint.target)
    return error_of(error, endpoint.target, service=endpoint.service)


def _converted(message: _Message, read: Callable[[_Message], _Value], endpoint: Endpoint) -> _Value:
    """Return the converted message. A malformed response is an error of the service."""
    try:
        return read(message)
    except InvalidRequest as error:
        text = f"{endpoint} sent a response that does not follow the contract: {error.message}"
        raise ScaarError(text, target=endpoint.target) from error
