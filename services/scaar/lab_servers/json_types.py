"""Types of the fields of a request's JSON."""

from collections.abc import Mapping

NUMBER = (int, float)

_NAMES: Mapping[type, str] = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "a string",
}


def wrong_type(fields: Mapping[str, object], types: Mapping[str, tuple[type, ...]]) -> str:
    """Return what is wrong with the first field of another type, empty for none.

    A missing field and null are right. A string must be encodable as UTF-8, and a list of the
    field ``stop`` has strings that are not empty.
    """
    for name, allowed in types.items():
        value = fields.get(name)
        if value is None:
            continue
        if not isinstance(value, allowed):
            return f"{name} must be {' or '.join(_NAMES[each] for each in allowed)}"
        if isinstance(value, str) and not is_utf8(value):
            return f"{name} must not have an unpaired surrogate"
        if name == "stop" and isinstance(value, list) and not all(map(_is_stop, value)):
            return f"{name} must have strings that are not empty, without unpaired surrogates"
    return ""


def is_utf8(text: str) -> bool:
    """Return whether the text has no unpaired surrogate."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_stop(value: object) -> bool:
    return isinstance(value, str) and value != "" and is_utf8(value)
