"""Uploads: client-streaming calls that send parts in messages of a bounded size."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from scaar.core.errors import BackendUnavailable, ScaarError
from scaar.wire.calls import Endpoint, receive

# Approximate size of a message of an upload, far below the maximum size of a message.
MESSAGE_BYTES = 100_000
_MAX_PARTS = 250
"""Maximum number of parts that are converted before other calls run."""

DRAIN_S = 2.0
"""Time, in seconds, for which the rest of a rejected upload is read."""

_Message = TypeVar("_Message", bound=Any)
_Response = TypeVar("_Response")
_Part = TypeVar("_Part")
_ReceivedPart = TypeVar("_ReceivedPart", bound=Message)
_Value = TypeVar("_Value")


def _unchecked(message: _Message) -> _Message:
    return message


async def upload(
    call: grpc.aio.StreamUnaryCall[_Message, _Response],
    first: _Message,
    parts: AsyncIterable[_Part],
    *,
    add: Callable[[_Message, _Part], int],
    read: Callable[[_Response], _Value],
    endpoint: Endpoint,
    what: str,
    check: Callable[[_Message], _Message] = _unchecked,
) -> _Value:
    """Send all parts, and return the response of the call.

    ``add`` adds a part to a message and returns the size of the part in bytes, ``what`` names the
    parts in errors, ``check`` returns a message that may be sent. An error raised by ``parts`` or
    ``check`` cancels the call and is raised.
    """
    try:
        await _send(call, first, parts, add, check)
        return await receive(call, read, endpoint)
    except ScaarError as error:
        if not _is_lost(error.__cause__):
            raise
        text = f"{endpoint} ended the call while {what} were being sent: try again"
        raise BackendUnavailable(text, target=endpoint.target) from error
    finally:
        call.cancel()


async def _send(
    call: grpc.aio.StreamUnaryCall[_Message, Any],
    first: _Message,
    parts: AsyncIterable[_Part],
    add: Callable[[_Message, _Part], int],
    check: Callable[[_Message], _Message],
) -> None:
    """Send the parts. Stop early, without an error, if the call ends."""
    message, size = first, 0
    try:
        async for part in parts:
            size += add(message, part)
            if size >= MESSAGE_BYTES:
                await call.write(check(message))
                message, size = type(first)(), 0
        await call.write(check(message))
        await call.done_writing()
    except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
        # Awaiting the call raises the reason.
        return


@asynccontextmanager
async def draining(messages: AsyncIterable[object]) -> AsyncIterator[None]:
    """Discard the rest of an upload that the block rejects, for :data:`DRAIN_S` at most.

    A client that still sends when the call ends can lose the status of the call.
    """
    try:
        yield
    except ScaarError:
        with suppress(ScaarError, TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                async for _ in messages:
                    pass
        raise


async def unpacked(
    parts: Iterable[_ReceivedPart], read: Callable[[_ReceivedPart], _Value]
) -> AsyncGenerator[_Value, None]:
    """Yield the converted parts of a received message. Other calls run in between."""
    size = count = 0
    for part in parts:
        size += part.ByteSize()
        count += 1
        if size >= MESSAGE_BYTES or count >= _MAX_PARTS:
            await asyncio.sleep(0)
            size = count = 0
        yield read(part)


def _is_lost(error: BaseException | None) -> bool:
    """Return whether the call ended with a status that gRPC made, and lost the service's own.

    A message that can no longer be sent ends the call with INTERNAL, and sometimes hides the status
    of the service.
    """
    if not isinstance(error, grpc.aio.AioRpcError):
        return False
    return error.code() is grpc.StatusCode.INTERNAL and not error.trailing_metadata()
