"""Conversion of received messages to domain types, off the event loop where that takes time."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from google.protobuf.message import Message

LARGE_MESSAGE_BYTES = 16 * 1024
"""A message above this size is converted in a thread, so that the event loop stays free."""

_Message = TypeVar("_Message", bound=Message)
_Value = TypeVar("_Value")


async def converted(message: _Message, read: Callable[[_Message], _Value]) -> _Value:
    """Return what ``read`` makes of a message."""
    if message.ByteSize() > LARGE_MESSAGE_BYTES:
        return await asyncio.to_thread(read, message)
    return read(message)
