"""Invalid fields of a request, from the errors of pydantic."""

from collections.abc import Iterator
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
    path = ".".join(str(each) for each in _path(error, body))
    return Violation(path or "body", text[:1].lower() + text[1:])


def _path(error: dict[str, Any], body: object) -> Iterator[str | int]:
    """Yield the keys of an invalid field. ``loc`` also has the types of unions, as pydantic does.

    A key leads to a value of the body; a type does not.
    """
    missing, value = error["type"] == "missing", body
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
        yield each
    if missing and len(error["loc"]) > 1:
        yield error["loc"][-1]
