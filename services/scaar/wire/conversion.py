"""Conversion between messages and domain types, within the limits of a message."""

import asyncio
from typing import TypeVar

from google.protobuf.message import Message

from scaar.core.errors import InvalidRequest
from scaar.wire.messages.codec import from_pb

LARGE_MESSAGE_BYTES = 16 * 1024
"""A larger message is converted in a thread, so that the event loop is not blocked."""

MAX_RESPONSE_BYTES = 16 * 1024 * 1024
"""Maximum size of a response."""

_Message = TypeVar("_Message", bound=Message)
_Value = TypeVar("_Value")


async def convert(message: Message, kind: type[_Value]) -> _Value:
    """Return the value of a message, as :func:`~scaar.wire.messages.codec.from_pb`."""
    if message.ByteSize() > LARGE_MESSAGE_BYTES:
        return await asyncio.to_thread(from_pb, message, kind)
    return from_pb(message, kind)


def check_response_size(response: _Message, *, field: str, advice: str) -> _Message:
    """Return a response of at most :data:`MAX_RESPONSE_BYTES`.

    Raises:
        InvalidRequest: the response is larger; names the ``field`` of the request to change, and
            ends with the ``advice``.
    """
    if (size := response.ByteSize()) > MAX_RESPONSE_BYTES:
        text = f"the response has {size:,} bytes, more than the {MAX_RESPONSE_BYTES:,} of a message"
        raise InvalidRequest.of(field, f"{text}: {advice}")
    return response
