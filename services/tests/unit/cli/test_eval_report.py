import json
from pathlib import Path

import pytest

from scaar.testing import evaluations
from scaar.testing.commands import run_scaar

USAGE = 2


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Two questions under three settings, of which one failed and one is missing."""
    labels = evaluations.LABELS
    made = [evaluations.prediction(label, "q1") for label in labels]
    made.append(evaluations.failed(labels[0], "q2"))
    made.append(evaluations.prediction(labels[1], "q2", answer="logician"))
    await evaluations.store(tmp_path, made)
    return tmp_path


def test_a_report_is_written_beside_the_results(folder: Path) -> None:
    before = (folder / "evaluations.sqlite").read_bytes()
    ran = run_scaar("eval", "report", str(folder))
    assert (ran.status, ran.out) == (0, f"{folder / 'report.html'}\n")
    assert (folder / "evaluations.sqlite").read_bytes() == before
    assert len((folder / "scores.csv").read_text().splitlines()) == 6
    message = (folder / "report.md").read_text()
    assert "Of 6 predictions, 1 failed and 1 is missing." in message
    assert "BACKEND_UNAVAILABLE" in message


def test_a_report_is_written_to_another_folder_with_options(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "there"
    requested = ("--measure", "exact_match", "--reference", "no_retrieval", "--resamples", "150")
    ran = run_scaar("eval", "report", str(folder), "--out", str(out), *requested)
    assert ran.status == 0
    written = json.loads((out / "report.json").read_text())
    titles = [
        item["title"] for part in written["sections"] for item in part["items"] if "rows" in item
    ]
    assert "Differences from no_retrieval at the chosen settings" in titles
    assert "EM at a matched retrieval budget, in searches per question" in titles
    assert not (folder / "report.json").exists()


def test_an_invalid_option_is_named_and_nothing_is_written(folder: Path) -> None:
    for option, value, says in (
        ("--reference", "scaar", "reference: must be one of no_retrieval, flare, not 'scaar'"),
        ("--measure", "blue", "measure: there is no measure 'blue'; known: exact_match, f1"),
        ("--resamples", "5", "resamples: must be at least 100, not 5"),
    ):
        ran = run_scaar("eval", "report", str(folder), option, value)
        assert ran.status == USAGE
        assert says in " ".join(ran.err.split())
        assert not (folder / "report.json").exists()


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    ran = run_scaar("eval", "report", str(tmp_path / "none"))
    assert ran.status != 0
    assert str(tmp_path / "none") in ran.err
    assert "Traceback" not in ran.err
