"""Checks of the types of requests that callers build, which no type checker may have seen."""

import enum
import types
import typing
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from numbers import Integral, Real
from os import PathLike
from typing import Any

from scaar.core.errors import InvalidRequest, Violation

_KINDS: dict[Any, tuple[type, str]] = {
    str: (str, "text"),
    bool: (bool, "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
}


def check_types(request: object) -> None:
    """Check that every field of a request has its type. Numbers of numpy are numbers too.

    Raises:
        InvalidRequest: naming every field of another type.
    """
    if wrong := list(wrong_types(request, type(request), "")):
        raise InvalidRequest(wrong)


def check_arguments(**arguments: tuple[Any, Any]) -> None:
    """Check that every argument is of the kind that is beside it.

    Raises:
        InvalidRequest: naming every argument that is not.
    """
    found = (wrong_types(*given, name) for name, given in arguments.items())
    if wrong := [each for of_one in found for each in of_one]:
        raise InvalidRequest(wrong)


def wrong_path(value: object, field: str) -> Iterator[Violation]:
    """Yield what makes a value no path of a file or a folder."""
    if not isinstance(value, str | PathLike):
        yield _wrong(field, "a path", value)
    elif "\0" in str(value):
        yield Violation(field, "must not contain a null character")


def wrong_types(value: Any, kind: Any, field: str) -> Iterator[Violation]:
    """Yield the parts of a value that are not of the annotated kind; ``field`` is its path."""
    arguments = typing.get_args(kind)
    if isinstance(kind, types.UnionType):
        if value is not None or types.NoneType not in arguments:
            (one,) = (each for each in arguments if each is not types.NoneType)
            yield from wrong_types(value, one, field)
    elif typing.get_origin(kind) is tuple:
        if isinstance(value, tuple):
            for position, each in enumerate(value):
                yield from wrong_types(each, arguments[0], f"{field}[{position}]")
        else:
            yield _wrong(field, "a tuple", value)
    elif isinstance(kind, type) and is_dataclass(kind):
        if isinstance(value, kind):
            for name, each in _hints(kind).items():
                path = f"{field}.{name}" if field else name
                yield from wrong_types(getattr(value, name), each, path)
        else:
            yield _wrong(field, f"of type {kind.__name__}", value)
    elif issubclass(kind, enum.StrEnum):
        if value not in tuple(kind):
            yield _wrong(field, f"one of {', '.join(kind)}", value)
    else:
        accepted, words = _KINDS[kind]
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            yield _wrong(field, words, value)


_hints = cache(typing.get_type_hints)


def _wrong(field: str, expected: str, value: object) -> Violation:
    return Violation(field, f"must be {expected}, not {repr(value)[:80]}")
