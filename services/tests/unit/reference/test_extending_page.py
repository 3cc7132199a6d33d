"""docs/extending.md shows the code of the example package, and every part of a package."""

import re
import tomllib

import pytest

from reference.__main__ import ROOT
from scaar.extensions import registries

PAGE = (ROOT / "docs" / "extending.md").read_text()
EXAMPLE = ROOT / "docs" / "examples" / "scaar-example"


@pytest.mark.parametrize("module", ["trigger", "defaults", "policy"])
def test_the_modules_of_the_page_are_those_of_the_example(module: str) -> None:
    code = (EXAMPLE / "scaar_example" / f"{module}.py").read_text().strip()
    assert f"```python\n{code}\n```" in PAGE


def test_the_entry_points_of_the_page_are_among_those_of_the_example() -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    for group, points in tomllib.loads(shown)["project"]["entry-points"].items():
        assert points.items() <= project["entry-points"][group].items()


def test_every_registry_is_on_the_page_and_in_the_example() -> None:
    groups = [each.group for each in registries()]
    assert re.findall(r"^\| `(scaar\.\w+)` \|", PAGE, re.MULTILINE) == groups
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    assert list(project["entry-points"]) == groups
