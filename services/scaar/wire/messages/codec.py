"""Domain values as messages and back, by the names of their fields.

A dataclass and its message have the same field names; ``_RENAMED`` lists the exceptions. The type
of a field of the dataclass decides how the field is converted:

===================  ===========================================================================
``X | None``         None if the field is unset or its enum unspecified.
``X = default``      The default if the field is unset or its enum unspecified.
dataclass            A message; required unless the field has a default or can be None.
enum                 The enum of the same name, whose values are ``<ENUM>_<MEMBER>``. A list of one
                     that is ``_EXTENSIBLE`` leaves out values that this version does not know.
float                A finite number; ``_NOT_FINITE`` lists the exceptions.
``tuple[X, ...]``    A repeated field, or a message whose only field is repeated.
``frozenset[X]``     A repeated field, sorted.
``Mapping[str, X]``  A map from strings to plain values.
``tuple[X, Y]``      A message with a field for each item, in order.
union                A message with a oneof, whose messages have the names of the dataclasses.
===================  ===========================================================================

A property of a dataclass is written to the field of its name and not read. Fields that only the
message has are left out; those that only the dataclass has come last and have defaults.

The conversion of a type is compiled once, into functions without reflection. A value is written as
nested dictionaries, from which protobuf builds the whole message in one call. Fields that need no
conversion, which are most, cost no call of a Python function.
"""

import enum
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import (
    Attention,
    Capability,
    EffectivePolicy,
    Moment,
    PolicyOverrides,
    PolicyRequest,
    Token,
    TopToken,
    WordRule,
)
from scaar.v1 import policy_pb2
from scaar.wire.messages.fields import check_carried, finite, finite_or_none
from scaar.wire.messages.policy import policy_from_pb, policy_to_fields

_Message = TypeVar("_Message", bound=Message)
_Value = TypeVar("_Value")
_Convert = Callable[[Any], Any]


class Codec(NamedTuple):
    """``write`` returns what a message or its field is built from, ``read`` the value again.

    Both raise InvalidRequest, whose fields are relative to the value.
    """

    write: _Convert
    read: _Convert


def _same(value: Any) -> Any:
    return value


_PLAIN = Codec(_same, _same)
_NUMBER = Codec(_same, partial(finite, ""))
_NUMBER_OR_NONE = Codec(_same, finite_or_none)

_RENAMED = {(Attention, "weights"): "rows"}
_EXTENSIBLE = frozenset[Any]({Capability, Moment, WordRule})
"""Enums of which a server of a later version may list values that this version does not know."""
_NOT_FINITE: Mapping[tuple[type, str], Codec] = {
    (Token, "logprob"): _NUMBER_OR_NONE,
    (Token, "entropy"): _NUMBER_OR_NONE,
    (TopToken, "logprob"): _PLAIN,
}
_REQUIRED = object()
_MAX_POLICIES = 256


def to_pb(value: object, message: type[_Message], kind: Any = None) -> _Message:
    """Return the value as a message; ``kind`` is the type of a value that is not a dataclass."""
    return message(**codec_of(kind or type(value), message).write(value))


def request_to_pb(
    value: object, message: type[_Message], kind: Any = None, *, field: str = ""
) -> _Message:
    """Return the value as a message of a request, or of its part ``field``.

    ``kind`` is the type of a value that is not a dataclass.

    Raises:
        InvalidRequest: the contract cannot carry a value. Names its field in the request.
    """
    try:
        given = codec_of(kind or type(value), message).write(value)
        try:
            return message(**given)
        except (ValueError, OverflowError):
            check_carried(given, message)
            raise
    except InvalidRequest as error:
        raise _within(field, error) from error


def from_pb(message: Message, kind: type[_Value], *, field: str = "") -> _Value:
    """Return the value of a message, or of its part ``field``.

    Raises:
        InvalidRequest: a field is missing or invalid. Names the field in the message.
    """
    try:
        value: _Value = codec_of(kind, type(message)).read(message)
    except InvalidRequest as error:
        raise _within(field, error) from error
    return value


@cache
def _codec_of(kind: Any, message: Any) -> Codec:
    return _message_codec(kind, message.DESCRIPTOR)


# A cache takes hashable arguments only, as which mypy does not see the class of a message.
codec_of = typing.cast("Callable[[Any, type[Message]], Codec]", _codec_of)
"""Return the codec of a type and its message."""


def enum_codec(kind: type[enum.Enum], wire: EnumDescriptor) -> Codec:
    """Return the codec of an enum, which rejects an unspecified or unknown value."""
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).upper()
    numbers = {each: wire.values_by_name[f"{prefix}_{each.name}"].number for each in kind}
    members = {number: each for each, number in numbers.items()}

    def read(number: int) -> enum.Enum:
        if (member := members.get(number)) is None:
            known = ", ".join(each.value for each in kind)
            text = f"must be one of {known}; {number} is not" if number else "must be specified"
            raise InvalidRequest.of("", text)
        return member

    return Codec(numbers.__getitem__, read)


def _message_codec(kind: Any, message: Descriptor) -> Codec:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is PolicyRequest:
        overrides = codec_of(PolicyOverrides, policy_pb2.PolicyOverrides)
        return Codec(
            partial(policy_to_fields, overrides.write), partial(policy_from_pb, overrides.read)
        )
    if origin is tuple:
        return _tuple_codec(kind, message)
    if _is_union(kind):
        return _union_codec(arguments, message)
    codec = _dataclass_codec(kind, message)
    if kind is EffectivePolicy:
        # The same few policies are in every answer.
        return codec._replace(write=lru_cache(maxsize=_MAX_POLICIES)(codec.write))
    return codec


def _field_codec(hint: Any, field: FieldDescriptor) -> Codec:
    """Return the codec of a singular field, or of an item of a repeated one."""
    if field.message_type is not None:
        return _message_codec(hint, field.message_type)
    if field.enum_type is not None:
        return enum_codec(hint, field.enum_type)
    return _NUMBER if field.type == FieldDescriptor.TYPE_DOUBLE else _PLAIN


def _map_codec(hint: Any, field: FieldDescriptor) -> Codec:
    codec = _field_codec(typing.get_args(hint)[1], field.message_type.fields_by_name["value"])

    def read_items(items: Mapping[str, Any]) -> dict[str, Any]:
        return {key: _at(key, codec.read, item) for key, item in items.items()}

    return Codec(_same, read_items)


def _repeated_codec(hint: Any, field: FieldDescriptor) -> Codec:
    make, item = typing.get_origin(hint), typing.get_args(hint)[0]
    codec = _field_codec(item, field)
    if codec is _NUMBER:
        return Codec(_same, _finite_numbers)
    if codec is _PLAIN:
        return Codec(_same, make)
    write_all = sorted if make is frozenset else list
    read_all = _known if _is_union(item) else make
    read = partial(_each, codec.read, read_all)
    if item in _EXTENSIBLE:
        known = field.enum_type.values_by_number
        return Codec(
            partial(_each, codec.write, write_all),
            lambda numbers: read([each for each in numbers if each in known]),
        )
    return Codec(partial(_each, codec.write, write_all), read)


def _each(convert: _Convert, make: _Convert, items: Iterable[Any]) -> Any:
    """Return the converted items, collected by ``make``. An error has the position of its item."""
    try:
        return make(map(convert, items))
    except InvalidRequest:
        for position, item in enumerate(items):
            _at(f"[{position}]", convert, item)
        raise


def _known(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values of a union that this version knows."""
    return tuple(each for each in values if each is not None)


def _finite_numbers(numbers: Iterable[float]) -> tuple[float, ...]:
    found = tuple(numbers)
    # A row of attention has a weight for every token read. Its sum is finite only if all are.
    if not math.isfinite(sum(found)):
        for number in found:
            finite("", number)
    return found


def _tuple_codec(kind: Any, message: Descriptor) -> Codec:
    hints = typing.get_args(kind)
    if hints[-1] is Ellipsis:
        (field,) = message.fields
        name, items = field.name, _repeated_codec(kind, field)
        return Codec(
            lambda value: {name: items.write(value)},
            lambda message: _at(name, items.read, getattr(message, name)),
        )
    parts = [
        (field.name, _field_codec(hint, field))
        for hint, field in zip(hints, message.fields, strict=True)
    ]
    return Codec(
        lambda value: {
            name: part.write(item) for (name, part), item in zip(parts, value, strict=True)
        },
        lambda message: tuple(_at(name, part.read, getattr(message, name)) for name, part in parts),
    )


def _union_codec(kinds: Sequence[type], message: Descriptor) -> Codec:
    (oneof,) = message.oneofs
    kind_of = {kind.__name__: kind for kind in kinds}
    by_kind, by_name = {}, {}
    for field in oneof.fields:
        kind = kind_of[field.message_type.name]
        codec = _message_codec(kind, field.message_type)
        by_kind[kind], by_name[field.name] = (field.name, codec.write), codec.read

    def write(value: Any) -> dict[str, Any]:
        name, convert = by_kind[type(value)]
        return {name: convert(value)}

    def read(message: Any) -> Any:
        """Return the value; None for one that this version does not know."""
        if (name := message.WhichOneof(oneof.name)) is None:
            return None
        try:
            return by_name[name](getattr(message, name))
        except InvalidRequest as error:
            raise _within(name, error) from error

    return Codec(write, read)


class _Part(NamedTuple):
    """A field of a dataclass, and its value where the field of the message is unset."""

    attribute: str
    field: FieldDescriptor
    codec: Codec
    absent: Any = None


def _dataclass_codec(kind: Any, message: Descriptor) -> Codec:
    hints = typing.get_type_hints(kind)
    parts, without = [], ""
    for each in fields(kind):
        field = message.fields_by_name.get(_RENAMED.get((kind, each.name), each.name))
        if field is None:
            without = each.name
            continue
        if without:
            # Values are read by position.
            raise TypeError(f"{kind.__name__}.{without} has no field, and must be the last one")
        hint, absent = _without_none(hints[each.name])
        if typing.get_origin(hint) is Mapping:
            # An empty map is read too, so that no two values share a dictionary.
            codec = _map_codec(hint, field)
        elif field.is_repeated:
            codec, absent = _repeated_codec(hint, field), typing.get_origin(hint)()
        else:
            codec = _NOT_FINITE.get((kind, each.name)) or _field_codec(hint, field)
        if each.default is not MISSING:
            absent = each.default
        parts.append(_Part(each.name, field, codec, absent))
    properties = [
        _Part(field.name, field, _PLAIN)
        for field in message.fields
        if isinstance(getattr(kind, field.name, None), property)
    ]
    return Codec(_writer(parts + properties), _reader(kind, parts))


def _writer(parts: Sequence[_Part]) -> _Convert:
    copy = _copier({each.field.name: each.attribute for each in parts})
    converted = [
        (each.field.name, each.codec.write)
        for each in parts
        if each.codec.write is not _same and not each.field.is_repeated
    ]
    repeated = [(each.field.name, each.codec.write) for each in parts if each.field.is_repeated]

    def write(value: Any) -> dict[str, Any]:
        given = copy(value)
        try:
            for name, convert in converted:
                if (item := given[name]) is not None:
                    given[name] = convert(item)
            for name, convert in repeated:
                if items := given[name]:
                    given[name] = convert(items)
                else:
                    del given[name]
        except InvalidRequest as error:
            raise _within(name, error) from error
        return given

    return write


def _reader(make: Callable[..., Any], parts: Sequence[_Part]) -> _Convert:
    get = _getter([each.field.name for each in parts])
    numbers = [each.field.name for each in parts if each.codec is _NUMBER]
    get_numbers = _getter(numbers)
    optional, unspecified = [], []
    for at, (_, field, codec, absent) in enumerate(parts):
        # The numbers are checked together.
        convert = None if codec in (_PLAIN, _NUMBER) else codec.read
        if field.has_presence:
            optional.append((at, field.name, convert, absent))
        elif field.is_repeated or convert is not None:
            unspecified.append((at, field.name, codec.read, absent))
    if not (optional or unspecified or numbers):
        return lambda message: make(*get(message))

    def read(message: Any) -> Any:
        values, name = list(get(message)), ""
        try:
            for at, name, convert, absent in optional:
                if message.HasField(name):
                    if convert is not None:
                        values[at] = convert(values[at])
                elif absent is _REQUIRED:
                    raise InvalidRequest.of("", "is required")
                else:
                    values[at] = absent
            for at, name, read_given, absent in unspecified:  # noqa: B007 (the field of an error)
                given = values[at]
                values[at] = read_given(given) if given or absent is _REQUIRED else absent
            # The sum is finite only if every number is.
            if numbers and not math.isfinite(sum(get_numbers(message))):
                for name in numbers:
                    finite("", getattr(message, name))
        except InvalidRequest as error:
            raise _within(name, error) from error
        return make(*values)

    return read


def _without_none(hint: Any) -> tuple[Any, Any]:
    """Return the hint of an optional value, and the value of an unset field."""
    given = [each for each in typing.get_args(hint) if each is not types.NoneType]
    if _is_union(hint) and len(given) == 1:
        return given[0], None
    return hint, _REQUIRED


def _at(field: str, convert: _Convert, item: Any) -> Any:
    """Return the converted item. Fields of errors are within the field."""
    try:
        return convert(item)
    except InvalidRequest as error:
        raise _within(field, error) from error


def _within(field: str, error: InvalidRequest) -> InvalidRequest:
    """Return the error with its fields within the field."""
    if not field:
        return error
    return InvalidRequest(
        [
            Violation(
                f"{field}{'' if not each.field or each.field[0] == '[' else '.'}{each.field}",
                each.description,
            )
            for each in error.violations
        ]
    )


def _getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that returns the attributes of these names."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _copier(attributes: Mapping[str, str]) -> Callable[[Any], dict[str, Any]]:
    """Return a function that returns the attributes of a value under other names."""
    # An evaluated display is three times as fast as dict(zip(names, attrgetter(...)(value))).
    items = ", ".join(f"{name!r}: value.{each}" for name, each in attributes.items())
    copy: Callable[[Any], dict[str, Any]] = eval(f"lambda value: {{{items}}}")
    return copy


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Union, types.UnionType)
