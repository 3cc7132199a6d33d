"""Tools that a request offers to the model: they are not called."""

from collections.abc import Sequence
from typing import Any, Literal

from scaar.core.errors import InvalidRequest

Tools = Literal["ignore", "reject"]
"""What is done with tools that the model need not call."""
_NOT_CALLED = "tools are not called by this server"


def ignored_tools(
    field: str, offered: Sequence[Any] | None, choice: Any, tools: Tools
) -> list[str]:
    """Return the names of the fields that are ignored: that of the tools, if there are any.

    ``choice`` is the field ``tool_choice``, or ``function_call`` of an older client.

    Raises:
        InvalidRequest: the model must call a tool, or may and ``tools`` is ``reject``.
    """
    called = "tool_choice" if field == "tools" else "function_call"
    match choice:
        case None | "none" | "auto" | {"type": "allowed_tools", "mode": "auto"}:
            pass
        case _:
            raise InvalidRequest.of(called, f"{_NOT_CALLED}: it must be auto or none")
    if offered and choice != "none" and tools == "reject":
        raise InvalidRequest.of(field, f"{_NOT_CALLED}: send none")
    return [field] if offered else []
