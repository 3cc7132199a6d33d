"""Errors for indexes that are missing, exist already or change concurrently."""

from collections.abc import Sequence

from scaar.core.errors import AlreadyExists, NotFound, Overloaded
from scaar.core.types import IndexDescription


def not_found(name: str, existing: Sequence[str]) -> NotFound:
    """Return the error for a missing index, which lists the existing ones."""
    known = ", ".join(existing) or "none"
    how = f"scaar index build {name} --corpus passages.jsonl"
    return NotFound(f"no index {name!r} (existing indexes: {known}); build it: {how}", index=name)


def already_exists(name: str) -> AlreadyExists:
    """Return the error for an index whose name exists already."""
    how = f"replace it with --replace, add passages to it: scaar index add {name}"
    drop = f"or drop it: scaar index drop {name}"
    return AlreadyExists(f"the index {name!r} exists already; {how}, {drop}", index=name)


def changed_concurrently(name: str) -> Overloaded:
    """Return the error for a change that lost against a concurrent change of the same index."""
    text = f"the index {name!r} was changed by another process at the same time; try again"
    return Overloaded(text, index=name)


def unreadable(name: str, engine: str) -> IndexDescription:
    """Return the description of an index of which only the name can be read."""
    return IndexDescription(name, "", 0, engine, k1=0, b=0, created="", size_bytes=0)
