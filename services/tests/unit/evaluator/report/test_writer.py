import csv
import json
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.evaluator.records import Score
from scaar.evaluator.report.model import ReportOptions
from scaar.evaluator.report.writer import write_report

from ..simulated import (
    GRID,
    SETTINGS,
    draw_predictions,
    draw_questions,
    draw_scores,
    evaluation_of,
)

QUESTIONS = draw_questions(60)
SCORES = tuple(draw_scores(QUESTIONS, SETTINGS))
PREDICTIONS = tuple(draw_predictions(QUESTIONS, SETTINGS))
FEW = ReportOptions(resamples=100)


def _write(out: Path, scores: tuple[Score, ...] = SCORES) -> None:
    write_report(
        evaluation_of(QUESTIONS, SETTINGS),
        QUESTIONS,
        scores=iter(scores),
        predictions=iter(PREDICTIONS),
        out=out,
        options=FEW,
    )


def _files(out: Path) -> dict[str, bytes]:
    paths = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def test_a_report_is_written_in_every_form(tmp_path: Path) -> None:
    _write(tmp_path / "new" / "folder")
    files = _files(tmp_path / "new" / "folder")
    assert {"report.md", "report.html", "report.json", "scores.csv"} <= files.keys()
    assert {"tables/policies.csv", "tables/settings.csv"} <= files.keys()
    assert "figures/frontier_retrievals.svg" in files
    assert set(json.loads(files["report.json"])["files"]) == files.keys()


def test_the_same_evaluation_gives_the_same_bytes(tmp_path: Path) -> None:
    _write(tmp_path / "a")
    _write(tmp_path / "b", SCORES[::-1])
    _write(tmp_path / "b", SCORES)
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


def test_every_score_is_in_the_csv(tmp_path: Path) -> None:
    _write(tmp_path, SCORES[1:])
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["setting"], row["question_id"]): row for row in csv.DictReader(file)}
    assert rows.keys() == {(score.setting, score.question_id) for score in SCORES[1:]}
    for score in SCORES[1::11]:
        row = rows[(score.setting, score.question_id)]
        assert float(row["f1"]) == score.values["f1"]
        assert float(row["latency_ms"]) == score.usage.latency_ms
        assert row["failed"] == "0"


def test_files_that_only_an_earlier_report_had_are_removed(tmp_path: Path) -> None:
    write_report(
        evaluation_of(QUESTIONS, GRID),
        QUESTIONS,
        scores=draw_scores(QUESTIONS, GRID),
        out=tmp_path,
        options=FEW,
    )
    assert (tmp_path / "tables" / "wins.csv").exists()
    (tmp_path / "tables" / "mine.csv").write_text("kept")
    (tmp_path / "evaluation.json").write_text("kept")
    _write(tmp_path)
    _write(tmp_path / "alone")
    left = _files(tmp_path).keys() - {f"alone/{name}" for name in _files(tmp_path / "alone")}
    assert left - _files(tmp_path / "alone").keys() == {"tables/mine.csv", "evaluation.json"}


def test_a_report_json_of_another_program_removes_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    out = tmp_path / "out"
    for listed in ({"files": ["../kept", "/etc", "tables/../../kept", 3]}, {"files": 3}, []):
        out.mkdir(exist_ok=True)
        (out / "report.json").write_text(json.dumps(listed))
        _write(out)
        assert kept.exists()


def test_wrong_scores_leave_the_folder_as_it_was(tmp_path: Path) -> None:
    _write(tmp_path)
    before = _files(tmp_path)
    with pytest.raises(InvalidRequest, match="twice"):
        _write(tmp_path, (*SCORES, SCORES[0]))
    assert _files(tmp_path) == before


def test_a_file_that_cannot_be_put_in_its_place_leaves_nothing_half_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(ScaarError, match=r"report.html cannot be written: Is a directory"):
        _write(tmp_path)
    assert set(_files(tmp_path)) <= {"report.md"}


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ScaarError, match="file cannot be written: File exists"):
        _write(tmp_path / "file")
