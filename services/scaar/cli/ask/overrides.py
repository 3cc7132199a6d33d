"""``--set name=value``: policy settings from the command line."""

import enum

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies.settings import SETTINGS
from scaar.core.types import PolicyOverrides

Value = float | int | bool | str

SETTING_HELP = f"Policy setting, such as theta=0.2: {', '.join(SETTINGS)}; repeatable."
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def choice_help(name: str) -> str:
    """Return the help of an option whose values are those of a policy setting."""
    setting = SETTINGS[name]
    names = f"One of {setting.range_text}, or of an installed package."
    return f"{setting.meaning} {names} Default: {setting.default_text}."


def parse_overrides(
    settings: list[str],
    *,
    trigger: str | None = None,
    query: str | None = None,
    gate: str | None = None,
) -> PolicyOverrides:
    """Parse ``name=value`` texts into policy overrides, with the given trigger, query and gate.

    Raises:
        InvalidRequest: names every unknown setting and every value that does not parse.
    """
    chosen = {"trigger": trigger, "query": query, "gate": gate}
    values: dict[str, Value] = {name: value for name, value in chosen.items() if value is not None}
    wrong: list[Violation] = []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            wrong.append(Violation("--set", f"must be name=value, not {setting!r}"))
        elif name not in SETTINGS:
            wrong.append(
                Violation(
                    f"policy.{name}",
                    f"is not a policy setting; known: {', '.join(sorted(SETTINGS))}",
                )
            )
        elif name in values:
            wrong.append(Violation(f"policy.{name}", "is set twice"))
        else:
            try:
                values[name] = _parse(SETTINGS[name].kind, text)
            except ValueError:
                wrong.append(Violation(f"policy.{name}", _expected(SETTINGS[name].kind, text)))
    if wrong:
        raise InvalidRequest(wrong)
    return PolicyOverrides(**values)  # type: ignore[arg-type]


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
