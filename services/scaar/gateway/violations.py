"""Invalid fields of a request, from the errors of pydantic."""

from typing import Any

from scaar.core.errors import Violation


def violation_of(error: dict[str, Any], body: object) -> Violation:
    """Return the violation of an invalid field, named by its path in the body.

    A body that is not JSON is one of the field ``request``.
    """
    text = error["msg"]
    if error["type"] == "json_invalid":
        reason, position = error["ctx"]["error"], error["loc"][-1]
        return Violation("request", f"the body is not JSON: {reason} (character {position})")
    if error["type"] == "extra_forbidden":
        text = "is not a known field"
    path = ".".join(map(str, _path(error, body)))
    return Violation(path or "body", text[:1].lower() + text[1:])


def _path(error: dict[str, Any], body: object) -> list[str | int]:
    """Return the keys of an invalid field. ``loc`` also has the types of unions, as pydantic does.

    A key leads to a value of the body; a type does not.
    """
    keys: list[str | int] = []
    value = body
    for each in error["loc"][1:]:
        if value is error["input"]:
            # The field, or the object that lacks it: what follows are types, then a missing key.
            break
        match value:
            case dict() if each in value:
                value = value[each]
            case list() if isinstance(each, int) and each < len(value):
                value = value[each]
            case _:
                continue
        keys.append(each)
    # A field that is null counts as missing, and is in the body.
    missing = error["loc"][1:][-1:] if error["type"] == "missing" else ()
    return keys if keys[-1:] == [*missing] else [*keys, *missing]
