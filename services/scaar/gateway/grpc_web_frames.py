"""The frames of gRPC-Web: messages and trailers, in binary and as base64 text."""

import base64
import binascii
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

import grpc

Trailers = Iterable[tuple[str, str | bytes]]
PREFIX_BYTES = 5
_COMPRESSED, _TRAILERS = 0x01, 0x80
# What gRPC leaves as it is in grpc-message: printable ASCII except the percent sign.
_UNQUOTED = "".join(chr(each) for each in range(0x20, 0x7F) if chr(each) != "%")
# Base64 of several chunks, each with its own padding.
_PADDED = re.compile(rb"[^=]+={0,2}")


class FrameError(Exception):
    """A request whose body is not one message within the limits. ``code`` is its status."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Framing:
    """How the bodies of a call are written. ``text`` is base64, for clients that need text."""

    content_type: str
    text: bool = False

    def max_body_bytes(self, max_message_bytes: int) -> int:
        """Return the size of the largest body with a message of the given size."""
        size = PREFIX_BYTES + max_message_bytes
        return 4 * math.ceil(size / 3) if self.text else size

    def message_of(self, body: bytes, *, max_bytes: int) -> bytes:
        """Return the message of a request.

        Raises:
            FrameError: the body is not one uncompressed message of at most ``max_bytes``.
        """
        data = _decoded(body) if self.text else body
        if len(data) < PREFIX_BYTES:
            raise FrameError(grpc.StatusCode.INVALID_ARGUMENT, "the request has no message")
        size = int.from_bytes(data[1:PREFIX_BYTES], "big")
        if size > max_bytes:
            raise too_large(max_bytes)
        if data[0] == _COMPRESSED:
            raise FrameError(grpc.StatusCode.UNIMPLEMENTED, "compressed requests are not supported")
        if data[0] or len(data) != PREFIX_BYTES + size:
            text = "the body of the request is not exactly one message"
            raise FrameError(grpc.StatusCode.INVALID_ARGUMENT, text)
        return data[PREFIX_BYTES:]

    def message(self, message: bytes) -> bytes:
        """Return the frame of a message."""
        return self._frame(0, message)

    def trailers(self, code: grpc.StatusCode, text: str, metadata: Trailers = ()) -> bytes:
        """Return the last frame: the status and the trailing metadata, pairs of key and value."""
        number: int = code.value[0]
        lines = [f"grpc-status:{number}"]
        if text:
            lines.append(f"grpc-message:{quote(text, safe=_UNQUOTED)}")
        lines += [_header(key, value) for key, value in metadata]
        return self._frame(_TRAILERS, "".join(f"{each}\r\n" for each in lines).encode())

    def _frame(self, flags: int, data: bytes) -> bytes:
        frame = bytes([flags]) + len(data).to_bytes(4, "big") + data
        return base64.b64encode(frame) if self.text else frame


def framing_of(content_type: str) -> Framing | None:
    """Return the framing for a content type, or None if it is none of gRPC-Web with protobuf."""
    name = content_type.partition(";")[0].strip().lower()
    kind, _, codec = name.partition("+")
    if codec not in ("", "proto"):
        return None
    if kind == "application/grpc-web":
        return Framing("application/grpc-web+proto")
    if kind == "application/grpc-web-text":
        return Framing("application/grpc-web-text+proto", text=True)
    return None


def too_large(max_bytes: int) -> FrameError:
    """Return the error for a message above the limit."""
    text = f"the message of a request must have at most {max_bytes:,} bytes"
    return FrameError(grpc.StatusCode.RESOURCE_EXHAUSTED, text)


def _header(key: str, value: str | bytes) -> str:
    if isinstance(value, bytes):
        return f"{key}:{base64.b64encode(value).decode().rstrip('=')}"
    return f"{key}:{value}"


def _decoded(body: bytes) -> bytes:
    try:
        parts = (base64.b64decode(each, validate=True) for each in _PADDED.findall(body))
        return b"".join(parts)
    except binascii.Error:
        text = "the body of the request is not base64"
        raise FrameError(grpc.StatusCode.INVALID_ARGUMENT, text) from None
