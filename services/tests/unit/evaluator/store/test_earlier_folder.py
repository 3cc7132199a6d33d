import json
from pathlib import Path

import pytest

from scaar.core.errors import DataCorrupt, NotFound
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import Evaluation
from scaar.evaluator.store.earlier_folder import read_earlier
from scaar.evaluator.store.folder import read_results
from scaar.evaluator.store.record_json import RecordJson
from scaar.testing.commands import run_scaar
from scaar.testing.evaluations import EVALUATION, LABELS, QUESTIONS, failed, prediction

USAGE, FAILURE = 2, 1
MADE = [prediction(label, question.id) for question in QUESTIONS for label in LABELS][:5]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Results as an earlier version wrote them: in any order, with a failure that was retried."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    (folder / "evaluation.json").write_bytes(RecordJson(Evaluation).document(EVALUATION))
    questions = map(RecordJson(Question).line, QUESTIONS)
    (folder / "questions.jsonl").write_bytes(b"".join(questions))
    lines = map(RecordJson(Prediction).line, [failed(LABELS[0], "q1"), *MADE[::-1]])
    (folder / "predictions.jsonl").write_bytes(b"".join(lines) + b'{"setting":"no_re')
    return folder


def test_results_of_an_earlier_version_are_imported(folder: Path, tmp_path: Path) -> None:
    before = read_earlier(folder)
    assert before.predictions == tuple(MADE)
    for option, where in (((), folder), (("--out", str(tmp_path / "new")), tmp_path / "new")):
        ran = run_scaar("eval", "import", str(folder), *option)
        assert (ran.status, ran.out) == (0, f"{where / 'evaluations.sqlite'}\n")
        assert read_results(where) == before
    exported = tmp_path / "predictions.jsonl"
    requested = ("--format", "predictions", "--out", str(exported))
    assert run_scaar("eval", "export", str(folder), *requested).status == 0
    assert exported.read_bytes() == b"".join(map(RecordJson(Prediction).line, MADE))
    again = run_scaar("eval", "import", str(folder))
    assert again.status == USAGE
    assert f"--out: {folder} already contains evaluations.sqlite" in again.err
    ran = run_scaar("eval", "report", str(folder))
    assert (ran.status, ran.out) == (0, f"{folder / 'report.html'}\n")


def test_a_folder_without_results_or_of_another_format_is_not_imported(
    folder: Path, tmp_path: Path
) -> None:
    ran = run_scaar("eval", "import", str(tmp_path))
    assert ran.status == FAILURE
    kinds = "evaluation.json (scaar eval run), labelling.json (scaar eval longtail)"
    assert f"there is none of {kinds}" in ran.err
    (folder / "evaluation.json").write_text('{"format": 2, "what": "else"}')
    with pytest.raises(DataCorrupt, match="has format 2; this version of scaar reads 1"):
        read_earlier(folder)
    (folder / "evaluation.json").unlink()
    with pytest.raises(NotFound):
        read_earlier(folder)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nonsense", "predictions.jsonl line 2 is corrupt: Invalid JSON"),
        ('{"setting":"flare"}', "line 2 is corrupt: question_id: Field required"),
        (
            json.dumps(json.loads(RecordJson(Prediction).line(prediction("flare", "q9")))),
            "line 2: 'q9' at 'flare' is not in the plan",
        ),
    ],
)
def test_a_damaged_line_is_named(folder: Path, line: str, expected: str) -> None:
    first = RecordJson(Prediction).line(MADE[0]).decode()
    (folder / "predictions.jsonl").write_text(f"{first}{line}\n")
    with pytest.raises(DataCorrupt, match=expected):
        read_earlier(folder)
