"""The table of docs/models.md with the capabilities of model servers, which tests compare."""

from collections.abc import Iterator, Mapping
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs" / "models.md"
_NAME = "`doctor --probe`"
_OF_MODEL = frozenset({"kind", "API", "chat template", "prompt profile"})
"""Findings that say how the model is prompted."""


def documented_capabilities(server: str) -> Mapping[str, str]:
    """Return the column of a server, by the names in the first column.

    Raises:
        ValueError: the page has no such table, or the table no such column.
    """
    lines = iter(_PAGE.read_text().splitlines())
    head = next((_cells(line) for line in lines if line.startswith(f"| {_NAME} |")), [])
    column = head.index(server)
    next(lines)
    rows = [_cells(line) for line in _until_blank(lines)]
    return {row[0]: row[column] for row in rows}


def as_documented(found: Mapping[str, str]) -> Mapping[str, str]:
    """Return what a probe found without what depends on the model or the server's options."""
    of_server = {name: text for name, text in found.items() if name not in _OF_MODEL}
    context = of_server.get("context")
    if context is None:
        return of_server
    return {**of_server, "context": "assumed" if "assumed" in context else "reported"}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _until_blank(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not line.strip():
            return
        yield line
