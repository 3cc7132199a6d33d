"""Settings with lists of names that headers of requests are compared with."""

import re
from collections.abc import Callable

from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

_Names = tuple[str, ...]


def names_of(pattern: re.Pattern[str], *, rule: str) -> Callable[[_Names], _Names]:
    """Return a validator of names, whose error states the ``rule``.

    It raises:
        PydanticCustomError: no request can have one of the names.
    """

    def checked(names: _Names) -> _Names:
        for name in names:
            if not pattern.fullmatch(name):
                raise PydanticCustomError("name", "{text}", {"text": f"{rule}, not {name!r}"})
        return names

    return checked


def items_of(pattern: re.Pattern[str]) -> JsonDict:
    """Return the JSON Schema of the names, for the chart."""
    return {"items": {"type": "string", "pattern": f"^({pattern.pattern})$"}}
