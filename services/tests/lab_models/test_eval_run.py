"""``scaar eval run`` on the lab's models: refused options, predictions, and resuming."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scaar.core.errors import DataCorrupt, NotFound
from scaar.evaluator.store.folder import read_results
from scaar.testing.commands import HEEDING_CTRL_C, Ran, run_scaar
from scaar.testing.evaluations import evaluation_record, prediction_records, question_records
from scaar.testing.processes import running_service

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
POLICIES = "no_retrieval,single_round,flare,scaar"
SETTINGS = ("no_retrieval", "single_round", "flare", "scaar")
AHEAD = {"latency_ms", "generation_ms", "scoring_ms", "retrieval_ms", "generated_tokens"}
AHEAD |= {"evaluated_prompt_tokens"}
"""Fields that depend on time: latencies, and how far the model drafted ahead."""


def evaluated(out: Path, *options: str, limit: int = 10) -> Ran:
    requested = ("--dataset", "lab", "--limit", str(limit), "--out", str(out))
    return run_scaar("eval", "run", *requested, *options)


def contents(folder: Path) -> dict[Path, bytes]:
    return {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def timeless(record: dict[str, Any]) -> dict[str, Any]:
    usage = {name: value for name, value in record["usage"].items() if name not in AHEAD}
    return {**record, "usage": usage}


def command(out: Path, *options: str, limit: int) -> list[str]:
    requested = ["--dataset", "lab", "--limit", str(limit), "--out", str(out)]
    return [sys.executable, "-m", "scaar.cli", "eval", "run", *requested, *options]


def started(arguments: list[str], lab_home: Path) -> "subprocess.Popen[str]":
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(lab_home)}
    return subprocess.Popen(
        [sys.executable, "-c", HEEDING_CTRL_C, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **variables},
        text=True,
    )


def stored(out: Path) -> int:
    try:
        return len(read_results(out).predictions)
    except (NotFound, DataCorrupt):
        # The database is being created.
        return 0


def wait_for(out: Path, process: "subprocess.Popen[str]", count: int) -> None:
    ends = time.monotonic() + 120
    while stored(out) < count:
        assert process.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.002)


@pytest.fixture(scope="module")
def whole(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The folder of an evaluation of all policies, and what the command printed."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(lab_home))
        return folder, evaluated(folder, "--policies", POLICIES, "--concurrency", "4")


def test_every_question_is_evaluated_with_every_setting(whole: tuple[Path, Ran]) -> None:
    folder, ran = whole
    assert ran.status == 0
    made = prediction_records(folder)
    questions = [each["id"] for each in question_records(folder)]
    assert [(each["question_id"], each["setting"]) for each in made] == [
        (question, setting) for question in questions for setting in SETTINGS
    ]
    heading, _, *rows = [line.strip("| ").split(" | ") for line in ran.out.splitlines()]
    assert [row[0] for row in rows] == list(SETTINGS)
    shown = {row[0]: dict(zip(heading, row, strict=True)) for row in rows}
    with (folder / "scores.csv").open() as file:
        scores = list(csv.DictReader(file))
    assert len(scores) == len(made)
    for setting in SETTINGS:
        mine = [each for each in scores if each["setting"] == setting]
        mean = sum(float(each["f1"]) for each in mine) / len(mine)
        assert shown[setting]["F1 [95%]"].startswith(f"{mean:.3f} [")
        retrievals = sum(int(each["retrievals"]) for each in mine) / len(mine)
        assert shown[setting]["N_R"] == f"{retrievals:.2f}"
    assert shown["no_retrieval"]["S_eff"] == "-"
    assert float(shown["scaar"]["S_eff"]) > 0


def test_the_folder_records_the_evaluation_and_its_provenance(tmp_path: Path) -> None:
    evaluated(tmp_path, "--policies", "scaar", "--theta", "0.4", "--seed", "2000", limit=2)
    document = evaluation_record(tmp_path)
    assert document["format"] == 1
    assert document["dataset"]["name"] == "lab"
    assert (document["dataset"]["seed"], document["dataset"]["limit"]) == (2000, 2)
    made = document["provenance"]["scaar:theta=0.4"]
    assert (made["model"], made["scorer"], made["index"]) == (
        "lab-lm",
        "lab-cross-encoder",
        "lab",
    )
    assert made["policy"]["theta"] == 0.4
    assert made["policy"]["query"]["alpha"] == 75
    assert ["theta", "request"] in made["policy"]["sources"]


def test_predictions_do_not_depend_on_the_concurrency(
    whole: tuple[Path, Ran], tmp_path: Path
) -> None:
    evaluated(tmp_path, "--policies", POLICIES, "--concurrency", "1")
    assert [timeless(each) for each in prediction_records(tmp_path)] == [
        timeless(each) for each in prediction_records(whole[0])
    ]


def test_the_generation_cache_does_not_change_prediction_records(
    tmp_path: Path,
) -> None:
    policies = ("--policies", "no_retrieval,flare,scaar,dragin", "--theta", "0.2,0.5")
    for name, kept in (("alone", ()), ("kept", ("--cache-generations",))):
        assert evaluated(tmp_path / name, *policies, *kept, limit=6).status == 0
    alone, kept = (
        [timeless(each) for each in prediction_records(tmp_path / name)]
        for name in ("alone", "kept")
    )
    assert kept == alone
    assert "milliseconds are not the time of an answer" in (tmp_path / "kept/report.md").read_text()
    ran = evaluated(tmp_path / "far", *policies, "--cache-generations", "--address", "localhost:1")
    assert ran.status == USAGE
    assert "--cache-generations: works with an embedded loop only" in ran.err
    assert not (tmp_path / "far").exists()


def test_a_killed_run_loses_and_repeats_no_prediction(lab_home: Path, tmp_path: Path) -> None:
    options = ("--policies", POLICIES, "--theta", "0.25,0.35", "--concurrency", "4")
    with started(command(tmp_path, *options, limit=10), lab_home) as process:
        wait_for(tmp_path, process, 7)
        process.kill()
    killed = read_results(tmp_path).predictions
    assert 7 <= len(killed) < 60
    ran = evaluated(tmp_path, *options, limit=10)
    assert ran.status == 0
    assert f"{len(killed)} of 60 predictions exist, resuming" in ran.err
    results = read_results(tmp_path)
    assert len({(each.setting, each.question_id) for each in results.predictions}) == 60
    assert all(each in results.predictions for each in killed)
    again = evaluated(tmp_path, *options, limit=10)
    assert again.out == ran.out
    assert read_results(tmp_path) == results


def test_an_interrupted_run_ends_cleanly_and_says_how_to_resume(
    lab_home: Path, tmp_path: Path
) -> None:
    requested = command(tmp_path, "--policies", "flare,scaar", limit=200)
    with started(requested, lab_home) as process:
        wait_for(tmp_path, process, 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (INTERRUPTED, "")
    reported = re.search(r"stopped; .* has (\d+) of 400 predictions", err)
    assert reported is not None
    assert int(reported[1]) == stored(tmp_path)
    assert "run the same command again to resume" in err
    assert "Traceback" not in err


@pytest.mark.long
def test_failures_are_counted_and_run_again_on_request(lab_home: Path, tmp_path: Path) -> None:
    options, out = ("--policies", "no_retrieval,flare"), tmp_path / "out"
    # Slow enough that the service is killed before it has answered everything.
    with running_service("orchestrator", lab_home, SCAAR_GENERATOR_PACE_MS="20") as service:
        requested = command(out, *options, "--address", service.target, limit=8)
        with started(requested, lab_home) as process:
            wait_for(out, process, 3)
            service.process.kill()
            _, err = process.communicate()
    assert process.returncode == FAILURE
    failed = [each for each in prediction_records(out) if "failure" in each]
    assert {each["failure"]["reason"] for each in failed} == {"BACKEND_UNAVAILABLE"}
    assert 0 < len(failed) < 16
    assert f"16 predictions, {len(failed)} failed" in err
    again = evaluated(out, *options, limit=8)
    assert again.status == FAILURE
    assert [each for each in prediction_records(out) if "failure" in each] == failed
    good = evaluated(out, *options, "--retry-failed", limit=8)
    assert good.status == 0
    assert f"{16 - len(failed)} of 16 predictions exist, resuming" in good.err
    assert len(prediction_records(out)) == 16


def test_an_unreachable_service_is_reported_before_anything_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = evaluated(out, "--address", "dns:///127.0.0.1:1", limit=2)
    assert ran.status == FAILURE
    assert "127.0.0.1:1" in ran.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--policies", "scaar,maybe"), "policies: there is no policy 'maybe'; known: "),
        (("--policies", "flare", "--theta", "0.3,0.3"), "theta: 0.3 is given twice"),
        (("--policies", "flare,flare"), "policies: flare is named twice"),
        (("--policies", "flare", "--alpha", "25"), "alpha: 25 has no effect on flare"),
        (("--policies", "flare", "--theta", "2"), "theta: must be in (0, 1] for policy flare"),
        (("--policies", "flare", "--theta", "a"), "policy.theta: must be a number, not 'a'"),
        (("--set", "volume=11"), "policy.volume: is not a policy setting"),
        (("--theta", "0.3", "--set", "theta=0.4"), "theta: is given twice"),
        (("--grid", "1"), "--grid: must be 2 to 50, not 1"),
        (("--grid", "6", "--theta", "0.3"), "--grid: cannot be combined with values of theta"),
        (("--limit", "100000"), "--limit: "),
        (("--limit", "0"), "--limit: "),
        (("--dataset", "trivia"), "there is no data set 'trivia'; known: "),
        (("--timeout", "-1"), "budget.timeout_s: must be in (0, 3600], not -1"),
    ],
)
def test_invalid_options_are_named_before_any_work(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    ran = evaluated(tmp_path / "out", *options)
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_settings_or_of_other_things_is_refused(tmp_path: Path) -> None:
    evaluated(tmp_path / "mine", "--policies", "flare", limit=2)
    before = contents(tmp_path / "mine")
    for options, message in (
        (("--policies", "flare", "--theta", "0.5"), "setting flare is only in the stored one"),
        (
            ("--policies", "flare", "--seed", "2001"),
            "dataset.seed is 2000 in the stored one and 2001",
        ),
        (
            ("--policies", "flare", "--timeout", "5"),
            "budget.timeout_s is 60.0 in the stored one",
        ),
    ):
        ran = evaluated(tmp_path / "mine", *options, limit=2)
        assert ran.status == USAGE
        assert message in ran.err
    assert contents(tmp_path / "mine") == before
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    ran = evaluated(tmp_path / "notes", limit=2)
    assert ran.status == USAGE
    assert "contains a.txt but no evaluations.sqlite" in ran.err
    assert [each.name for each in (tmp_path / "notes").iterdir()] == ["a.txt"]


def test_questions_of_a_file_are_sampled_by_the_seed_and_use_the_given_index(
    tmp_path: Path,
) -> None:
    file, out = tmp_path / "mine.jsonl", tmp_path / "out"
    file.write_text(run_scaar("lab", "questions", "--count", "8").out)
    requested = (
        "eval",
        "run",
        "--dataset",
        f"jsonl:{file}",
        "--policies",
        "flare",
        "--out",
        str(out),
    )
    unnamed = run_scaar(*requested)
    assert unnamed.status == USAGE
    assert "--index: is required: a policy retrieves, and the data set jsonl" in unnamed.err
    too_many = run_scaar(*requested, "--index", "lab", "--limit", "9")
    assert too_many.status == USAGE
    assert "--limit: must be at most 8, the number of questions of this file, not 9" in too_many.err
    assert not out.exists()
    ran = run_scaar(*requested, "--index", "lab", "--limit", "3", "--seed", "5")
    assert ran.status == 0
    few = [each["question_id"] for each in prediction_records(out)]
    more = tmp_path / "more"
    run_scaar(*requested[:-1], str(more), "--index", "lab", "--limit", "6", "--seed", "5")
    many = [each["question_id"] for each in prediction_records(more)]
    ids = [json.loads(line)["id"] for line in file.read_text().splitlines()]
    assert [each for each in ids if each in many] == many
    assert [each for each in many if each in few] == few
    moved = file.rename(tmp_path / "moved.jsonl")
    requested = ("--dataset", f"jsonl:{moved}", "--policies", "flare", "--index", "lab")
    again = run_scaar("eval", "run", *requested, "--limit", "3", "--seed", "5", "--out", str(out))
    assert (again.status, again.out) == (0, ran.out)
    nowhere = ("--policies", "flare", "--index", "nowhere", "--out", str(tmp_path / "new"))
    lost = run_scaar("eval", "run", "--dataset", f"jsonl:{moved}", *nowhere)
    assert lost.status == FAILURE
    assert "nowhere" in lost.err
    assert not (tmp_path / "new").exists()
