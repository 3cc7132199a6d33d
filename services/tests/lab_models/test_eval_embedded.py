"""``scaar eval --target embedded:DIR``: the evaluator of a folder, on the lab's models."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scaar.evaluation import evaluate
from scaar.testing.commands import HEEDING_CTRL_C, Ran, run_scaar

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
POLICIES = ("--policies", "no_retrieval,scaar")


def of(folder: Path) -> tuple[str, str]:
    return "--target", f"embedded:{folder}"


def requested(folder: Path, limit: int) -> tuple[str, ...]:
    return ("eval", "run", "--dataset", "lab", "--limit", str(limit), *POLICIES, *of(folder))


def listed(folder: Path) -> list[dict[str, Any]]:
    return run_scaar("eval", "list", "--format", "json", *of(folder)).records


def rows(evaluation: str, out: Path, *target: str) -> list[dict[str, Any]]:
    exported = ("--format", "jsonl", "--out", str(out))
    assert run_scaar("eval", "export", evaluation, *exported, *target).status == 0
    found = [json.loads(line) for line in out.read_text().splitlines()]
    # Times differ, and with them how far the model drafted ahead.
    return [
        {name: value for name, value in row.items() if "_ms" not in name and "tokens" not in name}
        for row in found
    ]


def started(folder: Path, lab_home: Path, limit: int) -> "subprocess.Popen[str]":
    """Start an evaluation in a process, which has the models and prints the id."""
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(lab_home)}
    variables["SCAAR_EVALUATOR_SHARD_PREDICTIONS"] = "20"
    command = [sys.executable, "-m", "scaar.cli", *requested(folder, limit)]
    return subprocess.Popen(
        [sys.executable, "-c", HEEDING_CTRL_C, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **variables},
        text=True,
    )


def wait_for_predictions(process: "subprocess.Popen[str]", folder: Path, count: int) -> str:
    """Return the id of the evaluation of the process once it has stored predictions."""
    assert process.stderr
    evaluation = process.stderr.readline().split()[1]
    while listed(folder)[0]["done"] < count:
        assert process.poll() is None
    return evaluation


def continued(evaluation: str, folder: Path) -> Ran:
    ran = run_scaar("eval", "watch", evaluation, *of(folder))
    assert ran.status == 0, ran.err
    return ran


def test_a_folder_has_the_results_of_a_run_in_files(tmp_path: Path) -> None:
    folder, files = tmp_path / "evaluations", tmp_path / "files"
    ran = run_scaar(*requested(folder, 6))
    assert ran.status == 0, ran.err
    assert "succeeded: 12 of 12" in ran.err
    evaluation = ran.err.split()[1]
    local = ("eval", "run", "--dataset", "lab", "--limit", "6", *POLICIES, "--out", str(files))
    assert run_scaar(*local).status == 0
    assert rows(evaluation, tmp_path / "a", *of(folder)) == rows(str(files), tmp_path / "b")
    report = run_scaar("eval", "report", evaluation, "--format", "markdown", *of(folder))
    assert "| scaar |" in report.out
    (each,) = listed(folder)
    assert (each["id"], each["state"]) == (evaluation, "succeeded")
    assert rows(str(folder), tmp_path / "c") == rows(str(files), tmp_path / "b")
    (each,) = listed(files)
    assert rows(each["id"], tmp_path / "d", *of(files)) == rows(str(files), tmp_path / "b")
    records = ("--format", "predictions", "--out", str(tmp_path / "e"))
    refused = run_scaar("eval", "export", evaluation, *records, *of(folder))
    assert refused.status == USAGE
    assert "--format: needs the folder of an evaluation" in refused.err


@pytest.mark.long
def test_a_killed_run_continues_and_loses_no_prediction(lab_home: Path, tmp_path: Path) -> None:
    with started(tmp_path, lab_home, 40) as process:
        evaluation = wait_for_predictions(process, tmp_path, 8)
        process.kill()
    (before,) = listed(tmp_path)
    assert before["state"] == "running"
    stored = rows(evaluation, tmp_path / "before", *of(tmp_path))
    assert 8 <= len(stored) == before["done"] < 80
    assert f"{evaluation} succeeded: 80 of 80" in continued(evaluation, tmp_path).err
    after = rows(evaluation, tmp_path / "after", *of(tmp_path))
    assert len({(row["setting"], row["question_id"]) for row in after}) == len(after) == 80
    assert all(row in after for row in stored)


@pytest.mark.long
def test_one_process_runs_a_folder_and_an_interrupted_run_is_resumed(
    lab_home: Path, tmp_path: Path
) -> None:
    with started(tmp_path, lab_home, 100) as process:
        evaluation = wait_for_predictions(process, tmp_path, 1)
        second = run_scaar(*requested(tmp_path, 1))
        assert second.status == USAGE
        assert f"--target: {tmp_path} is being written by another run" in second.err
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (INTERRUPTED, "")
    assert f"continue it: scaar eval watch {evaluation} --target embedded:{tmp_path}" in err
    assert "Traceback" not in err
    cancelled = run_scaar("eval", "cancel", evaluation, *of(tmp_path))
    assert re.search(rf"{evaluation} is cancelled, with \d+ of 200", cancelled.out)
    resumed = run_scaar("eval", "resume", evaluation, *of(tmp_path))
    assert resumed.status == 0, resumed.err
    assert f"{evaluation} succeeded: 200 of 200" in resumed.err


@pytest.mark.long
def test_an_evaluation_of_another_world_is_run_from_python(tmp_path: Path) -> None:
    target = f"embedded:{tmp_path}"
    results = evaluate("lab", ["single_round"], target=target, seed=2003, limit=4, progress=False)
    assert len(results.predictions) == 4
    assert results.report_html.startswith("<!doctype html>")
    question = results.questions[0].id
    assert results.decisions(question)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("list", "--target", "embedded:{folder}/none"), FAILURE, "has no evaluations"),
        (("list", "--target", "embedded:"), USAGE, "--target: must"),
        (
            ("run", "--dataset", "lab", "--target", f"embedded:{__file__}"),
            USAGE,
            f"--target: {__file__} is not a folder",
        ),
        (
            ("run", "--dataset", "lab", "--target", "embedded:{folder}", "--detach"),
            USAGE,
            "--detach: cannot be combined with --target embedded:{folder}, whose evaluations run",
        ),
    ],
)
def test_what_a_folder_cannot_do_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    ran = run_scaar("eval", *(each.format(folder=tmp_path) for each in arguments))
    assert ran.status == status
    assert message.format(folder=tmp_path) in ran.err
    assert list(tmp_path.iterdir()) == []
