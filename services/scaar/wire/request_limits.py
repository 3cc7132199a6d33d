"""Limits of requests, checked on the serialized bytes before protobuf parses them.

A message of a few megabytes can hold millions of empty values, which cost seconds and gigabytes
once they are objects. The limits are options in the contract (``proto/scaar/v1/limits.proto``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from scaar.core.errors import InvalidRequest, Violation
from scaar.v1 import limits_pb2 as pb

DEFAULT_MAX_BYTES = 64 * 1024
"""Maximum size of a request without ``request_limits``."""
DEFAULT_MAX_VALUES = 1_024
"""Maximum number of values of a request without ``request_limits``."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
# The bytes of UTF-8 that begin no character, and those of a varint that do not end it.
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_UNFINISHED = bytes(range(0x80, 0x100))
_WIRE_TYPES = {
    FieldDescriptor.TYPE_DOUBLE: _FIXED64,
    FieldDescriptor.TYPE_FIXED64: _FIXED64,
    FieldDescriptor.TYPE_SFIXED64: _FIXED64,
    FieldDescriptor.TYPE_FLOAT: _FIXED32,
    FieldDescriptor.TYPE_FIXED32: _FIXED32,
    FieldDescriptor.TYPE_SFIXED32: _FIXED32,
    FieldDescriptor.TYPE_STRING: _BYTES,
    FieldDescriptor.TYPE_BYTES: _BYTES,
    FieldDescriptor.TYPE_MESSAGE: _BYTES,
}


_Sent = TypeVar("_Sent", bound=Message)


@dataclass(frozen=True, slots=True)
class _Field:
    """A field as it is scanned; ``packed`` is the wire type of the values of a packed field."""

    name: str
    max_items: int
    max_characters: int
    message: "_Message | None" = None
    packed: int | None = None


@dataclass(frozen=True, slots=True)
class _Message:
    """The fields of a message with limits, or with messages that have limits, by their tags."""

    fields: Mapping[int, _Field] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Request:
    message: _Message
    max_bytes: int
    max_values: int


class ServiceLimits:
    """The limits of the requests of a service, as the contract states them."""

    def __init__(self, service: ServiceDescriptor) -> None:
        self._requests = {each.name: _request(each.input_type) for each in service.methods}

    @property
    def max_request_bytes(self) -> int:
        """Size of the largest request that any method accepts, in bytes."""
        return max(each.max_bytes for each in self._requests.values())

    def check(self, method: str, request: bytes) -> None:
        """Pass the serialized request of a method that is within the limits of the contract.

        Raises:
            InvalidRequest: naming the field that is over its limit, or a request that is malformed.
        """
        limits = self._requests[method]
        scan = _Scan(request, limits.max_values)
        try:
            scan.message(0, len(request), limits.message)
        except IndexError:
            _malformed()
        if len(request) > limits.max_bytes:
            text = f"must have at most {limits.max_bytes:,} bytes, not {len(request):,}"
            raise InvalidRequest.of("request", text)

    def checked(self, method: str, request: _Sent) -> _Sent:
        """Return a request to be sent that is within the limits of the contract.

        Raises:
            InvalidRequest: naming the field that exceeds its limit.
        """
        self.check(method, request.SerializeToString())
        return request


class _Scan:
    """One pass over a serialized message, which ends at the first limit that is exceeded."""

    def __init__(self, data: bytes, max_values: int) -> None:
        self._data = data
        self._max_values = max_values
        self._values = 0

    def message(self, position: int, end: int, message: _Message) -> None:
        """Scan the fields of a message between two positions."""
        data, fields = self._data, message.fields
        counts: dict[str, int] = {}
        while position < end:
            tag = data[position]
            position += 1
            if tag > 0x7F:
                tag, position = self._varint(position - 1)
            self._count(1)
            wire_type = tag & 7
            start = position
            if wire_type == _BYTES:
                length = data[position]
                position += 1
                if length > 0x7F:
                    length, position = self._varint(position - 1)
                start = position
                position += length
            elif wire_type == _VARINT:
                _, position = self._varint(position)
            elif wire_type in _FIXED_WIDTHS:
                position += _FIXED_WIDTHS[wire_type]
            else:
                _malformed()
            if position > end:
                _malformed()
            if (found := fields.get(tag)) is not None:
                self._check(found, start, position, counts)

    def _check(self, found: _Field, start: int, end: int, counts: dict[str, int]) -> None:
        at = counts.get(found.name, 0)
        if found.max_items:
            added = 1 if found.packed is None else self._packed(found.packed, start, end)
            counts[found.name] = at + added
            if at + added > found.max_items:
                text = f"must be at most {found.max_items:,}, not {at + added:,} or more"
                raise InvalidRequest.of(found.name, text)
        place = f"{found.name}[{at}]" if found.max_items else found.name
        if 0 < found.max_characters < end - start:
            characters = len(self._data[start:end].translate(None, _CONTINUATIONS))
            if characters > found.max_characters:
                text = f"must have at most {found.max_characters:,} characters, not {characters:,}"
                raise InvalidRequest.of(place, text)
        if found.message is not None:
            try:
                self.message(start, end, found.message)
            except InvalidRequest as error:
                raise InvalidRequest([_within(place, each) for each in error.violations]) from None

    def _packed(self, wire_type: int, start: int, end: int) -> int:
        if wire_type == _VARINT:
            values = len(self._data[start:end].translate(None, _UNFINISHED))
        else:
            values = (end - start) // _FIXED_WIDTHS[wire_type]
        self._count(values)
        return values

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > self._max_values:
            text = f"must hold at most {self._max_values:,} values, nested messages included"
            raise InvalidRequest.of(_WHOLE, text)

    def _varint(self, position: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self._data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte <= 0x7F:
                return value, position
            shift += 7
            if shift > 63:
                _malformed()


_WHOLE = "request"


def _within(place: str, wrong: Violation) -> Violation:
    if wrong.field == _WHOLE:
        return wrong
    return Violation(f"{place}.{wrong.field}", wrong.description)


def _malformed() -> NoReturn:
    raise InvalidRequest.of(_WHOLE, "is not a message of the contract")


def _request(descriptor: Descriptor) -> _Request:
    limits = descriptor.GetOptions().Extensions[pb.request_limits]
    return _Request(
        message=_message(descriptor),
        max_bytes=limits.max_bytes or DEFAULT_MAX_BYTES,
        max_values=limits.max_values or DEFAULT_MAX_VALUES,
    )


def _message(descriptor: Descriptor) -> _Message:
    """Return the limits of a message and its nested messages, which are not recursive."""
    fields: dict[int, _Field] = {}
    for each in descriptor.fields:
        limits = each.GetOptions().Extensions[pb.field_limits]
        message = None if each.message_type is None else _message(each.message_type)
        if not (limits.ByteSize() or message):
            continue
        wire_type = _WIRE_TYPES.get(each.type, _VARINT)
        found = _Field(each.name, limits.max_items, limits.max_characters, message)
        fields[each.number << 3 | wire_type] = found
        if each.is_repeated and wire_type != _BYTES:
            packed = _Field(each.name, limits.max_items, 0, packed=wire_type)
            fields[each.number << 3 | _BYTES] = packed
    return _Message(fields)
