"""Markdown: escaped text, tables, and pages with generated parts."""

import re
from collections.abc import Iterable, Mapping, Sequence

_CODE = re.compile(r"(`[^`]+`)")
_ROLE = re.compile(r":[a-z]+:`~?(?:\w+\.)*(\w+)`")
_MAKER = "make proto"


def plain(text: str) -> str:
    """Return a comment or docstring as one line, with Markdown characters escaped."""
    text = _ROLE.sub(r"`\1`", text.replace("``", "`"))
    parts = _CODE.split(" ".join(text.split()))
    parts[::2] = [re.sub(r"([*<])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with one row per line."""
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def replace_parts(page: str, parts: Mapping[str, str], *, by: str = _MAKER) -> str:
    """Return the page with the text between the markers of ``by`` replaced.

    Raises:
        ValueError: the markers of the page and the given parts differ.
    """
    region = re.compile(rf"<!-- made by {re.escape(by)}: (.+?) -->\n.*?<!-- end -->", re.DOTALL)
    places = [found[1] for found in region.finditer(page)]
    if sorted(places) != sorted(parts):
        raise ValueError(f"the page has markers for {places}, but the parts are {list(parts)}")
    return region.sub(lambda found: _region(by, found[1], parts[found[1]]), page)


def _region(by: str, name: str, text: str) -> str:
    return f"<!-- made by {by}: {name} -->\n\n{text.strip()}\n\n<!-- end -->"
