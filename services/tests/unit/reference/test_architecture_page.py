"""docs/architecture.md names only existing files and folders, and docs/ existing test modules."""

import re
from pathlib import Path

import pytest

from reference.__main__ import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text()
SCAAR = ROOT / "services" / "scaar"
SERVICES = [SCAAR / name for name in ("generator", "scorer")]
"""The services that a row about any service is checked on."""
PATH = re.compile(r"`([\w<>/.]+(?:\.py|\.proto|/))`")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def exists(path: str) -> bool:
    """Whether a path exists; for a template such as <name>.py, whether its folder exists."""
    if path.startswith("<service>/") or path in ("factory.py", "settings.py"):
        own = path.removeprefix("<service>/")
        return all(found(folder, own) for folder in SERVICES)
    return any(found(folder, path) for folder in (SCAAR, ROOT / "proto" / "scaar" / "v1", ROOT))


def found(folder: Path, path: str) -> bool:
    fixed, template, _ = path.partition("<")
    if not template:
        return (folder / path).exists()
    return "/" in fixed and (folder / fixed.rpartition("/")[0]).is_dir()


def test_every_path_of_where_to_add_what_exists() -> None:
    paths = set(PATH.findall(section("Where to add what")))
    assert len(paths) > 40
    assert sorted(path for path in paths if not exists(path)) == []


def test_every_folder_of_the_tree_exists() -> None:
    (tree,) = re.findall(r"```\n(.*?)```", section("The tree and its rule"), re.DOTALL)
    top, inner = set[str](), set[str]()
    for line in tree.splitlines():
        if not line.startswith("    "):
            names = re.split(r" {2,}", line.strip())[0].split(", ")
            (inner if line.startswith(" ") else top).update(names)
    assert {"core", "wire", "compose", "evaluator", "scorer"} <= inner
    assert [name for name in top if not (ROOT / name).exists()] == []
    assert [name for name in inner if not (SCAAR / name).exists()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_test_module_that_is_named_exists(page: Path) -> None:
    paths = re.findall(r"`((?:tests|integration_tests)/[\w/]+\.py)`", page.read_text())
    roots = (ROOT, ROOT / "services")
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []
