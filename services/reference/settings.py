"""Tables of the services' settings: name, variable, value, default and description."""

import ast
import enum
import inspect
import textwrap
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from reference.markdown import plain, table
from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import settings_class
from scaar.runtime.breaker_settings import BreakerSettings
from scaar.runtime.channel_security import ChannelSecurity
from scaar.runtime.settings import ProcessSettings, ServiceSettings, Settings, section_name

_COLUMNS = ("setting, variable", "value", "default", "description")
_WORDS: Mapping[object, str] = {
    bool: "true or false",
    float: "number",
    int: "whole number",
    str: "text",
    Path: "path",
    SecretStr: "secret text",
}


def settings_parts() -> dict[str, str]:
    """Return the parts of the page: settings of every service, and of each service."""
    own = {str(service): _own(settings_class(service)) for service in ServiceName}
    every = _table(ServiceSettings, "SCAAR_<SERVICE>_", docstrings(ProcessSettings))
    shared = {"channels": _own(ChannelSecurity), "breakers": _own(BreakerSettings)}
    return {"every service": every, **own, **shared}


def _own(cls: type[Settings]) -> str:
    about = "\n\n".join(plain(each) for each in (inspect.getdoc(cls) or "").split("\n\n"))
    prefix = f"SCAAR_{section_name(cls).upper()}_"
    # Gateway and console serve HTTP, so that the settings of gRPC servers are not its own.
    shared = docstrings(ProcessSettings) if cls.__bases__ == (ProcessSettings,) else {}
    return f"{about}\n\n{_table(cls, prefix, shared)}"


def _table(cls: type[Settings], prefix: str, shared: Mapping[str, str]) -> str:
    descriptions = {**shared, **docstrings(cls)}
    rows = [
        [
            f"`{name}`<br>`{prefix}{name.upper()}`",
            value_of(field),
            _default(field),
            plain(descriptions[name]),
        ]
        for name, field in cls.model_fields.items()
        if name in descriptions
    ]
    return table(_COLUMNS, rows)


def docstrings(cls: type[Settings]) -> dict[str, str]:
    """Return the docstring below each field that the class itself declares.

    Raises:
        ValueError: a field has no docstring.
    """
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(found, ast.ClassDef)
    found_below: dict[str, str] = {}
    for field, below in zip(found.body, [*found.body[1:], ast.Pass()], strict=True):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if not isinstance(below, ast.Expr) or not isinstance(below.value, ast.Constant):
            raise ValueError(f"{cls.__name__}.{field.target.id} has no docstring")
        found_below[field.target.id] = str(below.value.value)
    return found_below


def value_of(field: FieldInfo) -> str:
    """Return the type of a field in words, with its range."""
    kinds = [kind for kind in _kinds(field.annotation) if kind is not types.NoneType]
    words = " or ".join(_WORDS.get(kind) or _described(kind) for kind in kinds)
    return ", ".join(filter(None, (words, _range(field))))


def _kinds(annotation: Any) -> tuple[Any, ...]:
    union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    return typing.get_args(annotation) if union else (annotation,)


def _described(kind: Any) -> str:
    if typing.get_origin(kind) is Annotated:
        return _WORDS[typing.get_args(kind)[0]]
    if typing.get_origin(kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return " or ".join(f"`{choice.value}`" for choice in kind)
    if typing.get_origin(kind) is tuple:
        (inner, *_) = typing.get_args(kind)
        return f"list of {_WORDS[inner]}"
    if typing.get_origin(kind) is Mapping:
        return "mapping, JSON in the environment"
    raise ValueError(f"add a name for {kind} to _WORDS or _described")


def _range(field: FieldInfo) -> str:
    minimum = maximum = ""
    for limit in field.metadata:
        match limit:
            case Ge(ge=value):
                minimum = f"{value:,}"
            case Gt(gt=value):
                minimum = f"over {value:,}"
            case Le(le=value):
                maximum = f"{value:,}"
            case Lt(lt=value):
                maximum = f"below {value:,}"
    if minimum and maximum:
        return f"{minimum} to {maximum}"
    if maximum:
        return f"at most {maximum}"
    if not minimum or minimum.startswith("over"):
        return minimum
    return f"at least {minimum}"


def _default(field: FieldInfo) -> str:
    match field.default:
        case None:
            return "unset"
        case bool(value):
            return f"`{str(value).lower()}`"
        case float(value):
            return f"`{value:g}`"
        case ():
            return "none"
        case value:
            return f"`{value}`"
