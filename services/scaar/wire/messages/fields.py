"""Validation of single fields, in both directions."""

import math
from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from scaar.core.errors import InvalidRequest, shown

_INT32_MAX = 2**31 - 1


def carried_int(field: str, value: int) -> int:
    """Return the number if it fits in the 32 bits of the contract."""
    if not -_INT32_MAX - 1 <= value <= _INT32_MAX:
        raise InvalidRequest.of(field, f"must fit in 32 bits, not {shown(value)}")
    return value


def carried_text(field: str, value: str) -> str:
    """Return the text if it has no unpaired surrogates, which UTF-8 cannot encode."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = f"U+{ord(value[error.start]):04X}"
        message = f"holds the control character {code} at {error.start}"
        raise InvalidRequest.of(field, message) from error
    return value


def check_carried(fields: Mapping[str, Any], message: type[Message]) -> None:
    """Raise InvalidRequest for the first text or number that the message cannot carry.

    ``fields`` are keyword arguments of the message, nested messages as dictionaries.
    """
    descriptor: Any = message.DESCRIPTOR
    _check_carried(fields, descriptor, "")


def _check_carried(fields: Mapping[str, Any], message: Descriptor, path: str) -> None:
    for name, value in fields.items():
        if value is None:
            continue
        field = message.fields_by_name[name]
        for at, item in enumerate(value if field.is_repeated else (value,)):
            if isinstance(item, Mapping):
                place = f"{path}{name}[{at}]." if field.is_repeated else f"{path}{name}."
                _check_carried(item, field.message_type, place)
            elif isinstance(item, str):
                carried_text(path + name, item)
            elif field.type == FieldDescriptor.TYPE_INT32:
                carried_int(path + name, item)
            elif isinstance(item, int) and field.type == FieldDescriptor.TYPE_DOUBLE:
                finite(path + name, item)


def finite(field: str, value: float) -> float:
    """Return the number if it is finite, and no integer beyond all floats."""
    try:
        is_finite = math.isfinite(value)
    except OverflowError:
        is_finite = False
    if not is_finite:
        raise InvalidRequest.of(field, f"must be a finite number, not {shown(value)}")
    return value


def finite_or_none(value: float) -> float | None:
    """Return the number; None if it is NaN or infinite."""
    return value if math.isfinite(value) else None
