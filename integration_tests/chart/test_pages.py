"""What the pages have an operator type is for the release that they speak of."""

import re
from pathlib import Path

import pytest

from .rendering import CHART

PAGES = (CHART / "README.md", CHART.parents[1] / "docs" / "operations.md")
COMMAND = re.compile(r"\b(?:kubectl|helm) [a-z]+ [^`\n]*scaar[^`\n]*")


def commands(text: str) -> list[str]:
    """Every command about the release, of a block or within a sentence, as one line."""
    return [
        found for found in COMMAND.findall(text.replace("\\\n", " ")) if " template " not in found
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_names_its_namespace(page: Path) -> None:
    found = commands(page.read_text())
    assert found
    assert [each for each in found if "--namespace scaar" not in each] == []


def test_autoscaling_paused_for_an_upgrade_resumes_after_it() -> None:
    (page,) = (each for each in PAGES if each.name == "operations.md")
    annotated = [each for each in commands(page.read_text()) if "paused-replicas" in each]
    assert len([each for each in annotated if "paused-replicas=0 " in each]) == 1
    assert len([each for each in annotated if "paused-replicas- " in each]) == 1
