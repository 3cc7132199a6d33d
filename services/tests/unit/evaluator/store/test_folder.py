import asyncio
import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound, ScaarError
from scaar.evaluator.records import Prediction
from scaar.evaluator.results import Evaluation, Grid
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.folder import (
    EVALUATION,
    PREDICTIONS,
    QUESTIONS,
    check_folder,
    open_results,
    put_in_order,
    read_results,
)
from scaar.testing import evaluations
from scaar.testing.evaluations import LABELS, SETTINGS, failed, prediction

ALL = [(label, question) for question in ("q1", "q2") for label in LABELS]


async def kept(
    folder: Path, *predictions: Prediction, evaluation: Evaluation = evaluations.EVALUATION
) -> None:
    with open_results(folder, evaluation, evaluations.QUESTIONS) as store:
        for each in predictions:
            await store.add([each])


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def test_stored_results_are_read_back_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    made = [prediction(*key) for key in ALL[:3]] + [failed(*ALL[3])]
    await kept(folder, *made)
    found = read_results(folder)
    assert found.evaluation == evaluations.EVALUATION
    assert found.questions == evaluations.QUESTIONS
    assert found.predictions == tuple(made)
    assert found.missing == 2
    assert sorted(contents(folder)) == [EVALUATION, PREDICTIONS, QUESTIONS]


async def test_it_is_gone_on_with_where_it_stopped(tmp_path: Path) -> None:
    await kept(tmp_path, prediction(*ALL[0]), failed(*ALL[1]))
    with open_results(tmp_path, evaluations.EVALUATION, evaluations.QUESTIONS) as store:
        assert await store.known() == {ALL[0]: False, ALL[1]: True}
        await store.add([prediction(*ALL[1])])
        assert await store.known() == {ALL[0]: False, ALL[1]: False}
    assert [each.failure for each in read_results(tmp_path).predictions] == [None, None]


@pytest.mark.parametrize("half", [b'{"setting":"no_re', b"{", b"\x00\x00\x00"])
async def test_an_incomplete_last_line_is_removed(tmp_path: Path, half: bytes) -> None:
    await kept(tmp_path, prediction(*ALL[0]))
    whole = (tmp_path / PREDICTIONS).read_bytes()
    (tmp_path / PREDICTIONS).write_bytes(whole + half)
    assert len(read_results(tmp_path).predictions) == 1
    await kept(tmp_path, prediction(*ALL[1]))
    assert (tmp_path / PREDICTIONS).read_bytes().startswith(whole + b'{"setting"')
    assert len(read_results(tmp_path).predictions) == 2


async def test_questions_that_a_kill_left_out_are_written_on_resume(tmp_path: Path) -> None:
    await kept(tmp_path)
    (tmp_path / QUESTIONS).unlink()
    (tmp_path / f"{QUESTIONS}.writing").write_text("half")
    await kept(tmp_path)
    assert read_results(tmp_path).questions == evaluations.QUESTIONS


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"settings": SETTINGS[:2]}, "setting flare:theta=0.8 is only in the stored one"),
        ({"settings": SETTINGS[::-1]}, "the settings are in another order"),
        (
            {"dataset": replace(evaluations.EVALUATION.dataset, seed=7)},
            "dataset.seed is 2000 in the stored one and 7 now",
        ),
        ({"scaar": "2.0"}, "scaar is '1.0' in the stored one and '2.0' now"),
        (
            {"budget": replace(evaluations.EVALUATION.budget, timeout_s=1.0)},
            "budget.timeout_s is 60.0 in the stored one and 1.0 now",
        ),
        (
            {
                "provenance": {
                    label: replace(made, model_revision="2") if label == "no_retrieval" else made
                    for label, made in evaluations.EVALUATION.provenance.items()
                }
            },
            "provenance.no_retrieval.model_revision is '1' in the stored one and '2' now",
        ),
        (
            {"grid": Grid(6, {"flare": (0.3, 0.8)}, ("q1",), ("q2",))},
            "grid is not set in the stored one and 6",
        ),
    ],
)
async def test_another_evaluation_is_refused_with_the_difference_named(
    tmp_path: Path, other: dict[str, object], expected: str
) -> None:
    await kept(tmp_path, prediction(*ALL[0]))
    before = contents(tmp_path)
    requested = replace(evaluations.EVALUATION, **other)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest) as error:
        await kept(tmp_path, evaluation=requested)
    assert expected in error.value.message
    assert contents(tmp_path) == before


async def test_the_start_time_does_not_distinguish_evaluations(tmp_path: Path) -> None:
    await kept(tmp_path)
    await kept(tmp_path, evaluation=replace(evaluations.EVALUATION, created="2031-01-01"))
    assert read_results(tmp_path).evaluation == evaluations.EVALUATION


def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidRequest, match="thesis.tex but no evaluation.json"):
        check_folder(tmp_path, evaluations.EVALUATION.dataset, grid=None)
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


def test_a_file_is_refused_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InvalidRequest, match="out is not a folder"):
        check_folder(tmp_path / "out", evaluations.EVALUATION.dataset, grid=None)


async def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        open_results(tmp_path, evaluations.EVALUATION, evaluations.QUESTIONS),
        pytest.raises(InvalidRequest, match="is being written by another run"),
    ):
        await kept(tmp_path)
    await kept(tmp_path)


async def test_predictions_are_put_in_the_order_of_the_plan(tmp_path: Path) -> None:
    made = [prediction(*key) for key in ALL]
    await kept(tmp_path, made[5], failed(*ALL[0]), *made[1:5], made[0])
    put_in_order(tmp_path)
    once = (tmp_path / PREDICTIONS).read_bytes()
    assert read_results(tmp_path).predictions == tuple(made)
    assert once.count(b"\n") == len(ALL)
    put_in_order(tmp_path)
    assert (tmp_path / PREDICTIONS).read_bytes() == once


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"nonsense\n", "predictions.jsonl line 2 is corrupt: Invalid JSON"),
        (b'{"setting":"flare"}\n', "line 2 is corrupt: question_id: Field required"),
    ],
)
async def test_a_damaged_line_is_named(tmp_path: Path, line: bytes, expected: str) -> None:
    await kept(tmp_path, prediction(*ALL[0]))
    with (tmp_path / PREDICTIONS).open("ab") as file:
        file.write(line)
    with pytest.raises(DataCorrupt) as error:
        read_results(tmp_path)
    assert expected in error.value.message


async def test_a_prediction_of_something_else_is_named(tmp_path: Path) -> None:
    await kept(tmp_path, prediction("flare", "q9"))
    with pytest.raises(DataCorrupt, match="line 1: 'q9' at 'flare' is not in the plan"):
        read_results(tmp_path)


async def test_a_folder_without_an_evaluation_or_of_a_later_form_is_not_read(
    tmp_path: Path,
) -> None:
    with pytest.raises(NotFound, match="contains no evaluation"):
        read_results(tmp_path)
    later = '{"format": 2, "what": "else"}'
    (tmp_path / EVALUATION).write_text(later)
    with pytest.raises(DataCorrupt, match="has format 2; this version of scaar reads 1"):
        read_results(tmp_path)


FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
from scaar.core.errors import ScaarError
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.folder import open_results
from scaar.testing import evaluations

async def fill(folder):
    with open_results(folder, evaluations.EVALUATION, evaluations.QUESTIONS) as store:
        for question in evaluations.QUESTIONS:
            for label in evaluations.LABELS:
                await store.add([evaluations.prediction(label, question.id)])

room = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    asyncio.run(fill(Path(sys.argv[1])))
except ScaarError as error:
    print(error.message)
"""


def test_a_full_disk_is_reported_and_stored_predictions_are_intact(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    asyncio.run(kept(folder, prediction(*ALL[0])))
    room = len((folder / PREDICTIONS).read_bytes()) * 2 + 50
    ran = subprocess.run(
        # -B: the limit would leave half-written byte code behind.
        [sys.executable, "-B", "-c", FULL_DISK, str(folder), str(room)],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert ran.stderr == ""
    assert "predictions.jsonl cannot be written: File too large" in ran.stdout
    whole = (folder / PREDICTIONS).read_bytes()
    assert whole.endswith(b"\n")
    assert whole.count(b"\n") == 2
    asyncio.run(kept(folder, *(prediction(*key) for key in ALL[1:])))
    assert read_results(folder).missing == 0


def test_a_full_disk_names_the_file_and_the_space_that_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "evaluation.json"
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ScaarError) as caught:
        write_whole(path, b"x" * 5_000)
    text = f"{path} cannot be written: its disk is full (5.0 kB needed, "
    assert str(caught.value).startswith(text)
    assert not path.exists()
