"""``--set name=value``: a policy's settings from the command line."""

import enum
import types
import typing
from dataclasses import fields

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import Formulation, Gate, PolicyOverrides, Trigger

Value = float | int | bool | enum.StrEnum

_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_overrides(
    settings: list[str],
    *,
    trigger: Trigger | None = None,
    query: Formulation | None = None,
    gate: Gate | None = None,
) -> PolicyOverrides:
    """The overrides that ``name=value`` texts ask for, beside trigger, query and gate given.

    Raises:
        InvalidRequest: naming every setting that does not exist or whose value does not parse.
    """
    kinds = _kinds()
    chosen = {"trigger": trigger, "query": query, "gate": gate}
    values: dict[str, Value] = {name: value for name, value in chosen.items() if value is not None}
    wrong: list[Violation] = []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            wrong.append(Violation("--set", f"must be name=value, not {setting!r}"))
        elif name not in kinds:
            wrong.append(
                Violation(f"policy.{name}", f"is not a setting; known: {', '.join(sorted(kinds))}")
            )
        elif name in values:
            wrong.append(Violation(f"policy.{name}", "is set twice"))
        else:
            try:
                values[name] = _parse(kinds[name], text)
            except ValueError:
                wrong.append(Violation(f"policy.{name}", _expected(kinds[name], text)))
    if wrong:
        raise InvalidRequest(wrong)
    return PolicyOverrides(**values)  # type: ignore[arg-type]


def _kinds() -> dict[str, type[Value]]:
    hints = typing.get_type_hints(PolicyOverrides)
    return {
        field.name: next(
            kind for kind in typing.get_args(hints[field.name]) if kind is not types.NoneType
        )
        for field in fields(PolicyOverrides)
    }


def _parse(kind: type[Value], text: str) -> Value:
    if kind is bool:
        try:
            return _BOOLEANS[text.lower()]
        except KeyError:
            raise ValueError(text) from None
    return kind(text)


def _expected(kind: type[Value], text: str) -> str:
    if issubclass(kind, enum.StrEnum):
        return f"must be one of {', '.join(kind)}, not {text!r}"
    words = {bool: "true or false", int: "a whole number"}.get(kind, "a number")
    return f"must be {words}, not {text!r}"
