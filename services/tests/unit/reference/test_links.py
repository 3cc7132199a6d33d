"""Every link and every module path in the project's pages exists."""

import re
from pathlib import Path

import pytest

from reference.__main__ import ROOT

PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
SOURCES = ROOT / "services" / "scaar"
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]*))?\)")
_PATH = re.compile(r"`((?:core|wire|runtime|cli|client|testing|generator|scorer)/[\w/]+\.py)`")


def text_of(page: Path) -> str:
    return _CODE.sub("", page.read_text())


def anchors(page: Path) -> list[str]:
    """Return the anchors of the headings; a repeated heading would need a numbered anchor."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_resolves(page: Path) -> None:
    for path, anchor in _LINK.findall(text_of(page)):
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), path
        assert not anchor or anchors(linked).count(anchor) == 1, f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_named_module_exists(page: Path) -> None:
    for path in _PATH.findall(page.read_text()):
        assert (SOURCES / path).is_file(), path
