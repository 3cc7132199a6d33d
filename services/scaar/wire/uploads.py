"""A call that is sent much: in messages of a bounded size, and stopped when the call is over."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from scaar.core.errors import BackendUnavailable, ScaarError
from scaar.wire.calls import answered

# What is sent goes in messages of about this size, far from the limit of a message.
MESSAGE_BYTES = 100_000

_Message = TypeVar("_Message", bound=Any)
_Response = TypeVar("_Response")
_Part = TypeVar("_Part")
_ReceivedPart = TypeVar("_ReceivedPart", bound=Message)
_Value = TypeVar("_Value")


async def uploaded(
    call: grpc.aio.StreamUnaryCall[_Message, _Response],
    first: _Message,
    parts: AsyncIterable[_Part],
    *,
    add: Callable[[_Message, _Part], int],
    read: Callable[[_Response], _Value],
    target: str,
    what: str,
) -> _Value:
    """What the call answers when all parts are sent.

    ``add`` puts a part into a message and gives its bytes, ``what`` names the parts. An error of
    ``parts`` cancels the call and goes on to the caller.
    """
    try:
        await _send(call, first, parts, add)
        return await answered(call, read, target)
    except ScaarError as error:
        if not _is_lost(error.__cause__):
            raise
        text = f"{target} ended the call while {what} were sent to it; try again"
        raise BackendUnavailable(text, target=target) from error
    finally:
        call.cancel()


async def _send(
    call: grpc.aio.StreamUnaryCall[_Message, Any],
    first: _Message,
    parts: AsyncIterable[_Part],
    add: Callable[[_Message, _Part], int],
) -> None:
    """Sends the parts; stops early, without an error, when the call is over."""
    message, size = first, 0
    try:
        async for part in parts:
            size += add(message, part)
            if size >= MESSAGE_BYTES:
                await call.write(message)
                message, size = type(first)(), 0
        await call.write(message)
        await call.done_writing()
    except (asyncio.InvalidStateError, grpc.aio.AioRpcError):
        # Whoever awaits the call is told why it is over.
        return


async def unpacked(
    parts: Iterable[_ReceivedPart], read: Callable[[_ReceivedPart], _Value]
) -> AsyncGenerator[_Value, None]:
    """Yield the parts of a received message, read; other calls are served in between."""
    size = 0
    for part in parts:
        size += part.ByteSize()
        if size >= MESSAGE_BYTES:
            await asyncio.sleep(0)
            size = 0
        yield read(part)


def _is_lost(error: BaseException | None) -> bool:
    """Whether a call ended with a status of gRPC's own making.

    A message that cannot be sent any more ends the call with INTERNAL, now and then for good: then
    the service's own status is lost.
    """
    if not isinstance(error, grpc.aio.AioRpcError):
        return False
    return error.code() is grpc.StatusCode.INTERNAL and not error.trailing_metadata()
