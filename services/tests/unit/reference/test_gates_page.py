"""The tables of docs/gates.md come from a report of scaar eval gates."""

import sys
from pathlib import Path

import pytest

from reference import gates

REPORT = "# Gates\n\n991 questions\n\n## Questions\n\n| set |\n| --- |\n| hotpotqa |\n"


def test_the_part_is_the_report_without_its_title_one_level_lower(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text(REPORT)
    expected = "\n991 questions\n\n### Questions\n\n| set |\n| --- |\n| hotpotqa |"
    assert gates.part(tmp_path) == expected


def test_the_page_has_a_place_for_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report.md").write_text(REPORT)
    page = tmp_path / "gates.md"
    page.write_text(gates.PAGE.read_text())
    monkeypatch.setattr(gates, "PAGE", page)
    monkeypatch.setattr(sys, "argv", ["gates", str(tmp_path)])
    assert gates.main() == 0
    assert "### Questions\n\n| set |\n| --- |\n| hotpotqa |\n\n<!-- end -->" in page.read_text()
