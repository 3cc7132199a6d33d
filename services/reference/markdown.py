"""Markdown: plain text that stays as it is, tables, and pages that are made in part."""

import re
from collections.abc import Iterable, Mapping, Sequence

_CODE = re.compile(r"(`[^`]+`)")
_ROLE = re.compile(r":[a-z]+:`~?(?:\w+\.)*(\w+)`")
_MAKER = "make proto"


def plain(text: str) -> str:
    """A comment or docstring on one line, so that no sign of it is read as Markdown."""
    text = _ROLE.sub(r"`\1`", text.replace("``", "`"))
    parts = _CODE.split(" ".join(text.split()))
    parts[::2] = [re.sub(r"([*<])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a row a line."""
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def remade(page: str, parts: Mapping[str, str], *, by: str = _MAKER) -> str:
    """The page with what stands between the marks of its maker made anew.

    Raises:
        ValueError: the page has no place for a part, or a place for one that is not made.
    """
    region = re.compile(rf"<!-- made by {re.escape(by)}: (.+?) -->\n.*?<!-- end -->", re.DOTALL)
    places = [found[1] for found in region.finditer(page)]
    if sorted(places) != sorted(parts):
        raise ValueError(f"the page has places for {places}, and {list(parts)} are made")
    return region.sub(lambda found: _region(by, found[1], parts[found[1]]), page)


def _region(by: str, name: str, text: str) -> str:
    return f"<!-- made by {by}: {name} -->\n\n{text.strip()}\n\n<!-- end -->"
