"""Arbitrary values of domain types, for property tests."""

import enum
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from scaar.core.types import LearnedTrigger

_T = TypeVar("_T")

_PLAIN: dict[Any, SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(-(2**31), 2**31 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: st.text(max_size=12),
    types.NoneType: st.none(),
    # The parameters of a trigger stay in the process that loaded the artefact.
    LearnedTrigger | None: st.none(),
}


def values_of(kind: type[_T], **given: SearchStrategy[Any]) -> SearchStrategy[_T]:
    """Return values of a dataclass, with numbers in the ranges of the contract."""
    hints = typing.get_type_hints(kind)
    assert is_dataclass(kind)
    parts = {each.name: _any(hints[each.name]) for each in fields(kind) if each.name not in given}
    return st.builds(kind, **parts, **given)


def _any(hint: Any) -> SearchStrategy[Any]:
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(_any(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(_any(each) for each in arguments))
    if origin is frozenset:
        return st.frozensets(_any(arguments[0]))
    if origin is Mapping:
        return st.dictionaries(*(_any(each) for each in arguments), max_size=3)
    if origin in (types.UnionType, typing.Union):
        return st.one_of(*(_any(each) for each in arguments))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from(list(hint))
    return values_of(hint)
