"""Grids, ablations and calibrations on the lab's models, by real runs."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from scaar.core.types import SettingSource
from scaar.evaluator.splits import Split, split_of
from scaar.testing.commands import Ran, run_scaar
from scaar.testing.evaluations import evaluation_record, prediction_records, question_records

USAGE = 2


def first_pass(out: Path) -> list[dict[str, Any]]:
    """The predictions of the first pass of a grid."""
    chosen = (
        "SELECT predictions.record FROM predictions JOIN evaluations "
        "ON predictions.evaluation = number WHERE parent IS NOT NULL"
    )
    with closing(sqlite3.connect(out / "evaluations.sqlite")) as database:
        return [json.loads(record) for (record,) in database.execute(chosen)]


def calibrated(out: Path, *options: str) -> Ran:
    requested = ("--dataset", "lab", "--limit", "24", "--out", str(out))
    return run_scaar("calibrate", *requested, *options)


def test_every_policy_gets_as_many_thetas_at_its_own_scores(tmp_path: Path) -> None:
    requested = ("--dataset", "lab", "--limit", "24", "--policies", "no_retrieval,flare,scaar")
    ran = run_scaar("eval", "run", *requested, "--grid", "3", "--out", str(tmp_path))
    assert ran.status == 0
    document = evaluation_record(tmp_path)
    grid, labels = document["grid"], [each["label"] for each in document["settings"]]
    assert labels == [
        "no_retrieval",
        *(
            f"{policy}:theta={theta:g}"
            for policy in grid["candidates"]
            for theta in grid["candidates"][policy]
        ),
    ]
    assert {policy: len(thetas) for policy, thetas in grid["candidates"].items()} == {
        "flare": 3,
        "scaar": 3,
    }
    assert grid["candidates"]["flare"] != grid["candidates"]["scaar"]
    for question in question_records(tmp_path):
        half = split_of(question["entity"], seed=2000)
        assert question["id"] in grid["development" if half is Split.DEVELOPMENT else "test"]
    judged = first_pass(tmp_path)
    assert len(judged) == 2 * len(grid["development"])
    assert {each["usage"]["retrievals"] for each in judged} == {0}
    again = run_scaar("eval", "run", *requested, "--grid", "3", "--out", str(tmp_path))
    assert (again.status, again.out) == (0, ran.out)


def test_an_ablation_runs_its_settings_with_the_given_ones(tmp_path: Path) -> None:
    requested = ("--dataset", "lab", "--limit", "4", "--out", str(tmp_path), "--set", "theta=0.25")
    ran = run_scaar("eval", "ablate", "alpha", *requested)
    assert ran.status == 0
    assert [each["label"] for each in evaluation_record(tmp_path)["settings"]] == [
        "no_retrieval",
        *(f"scaar:theta=0.25,alpha={alpha}" for alpha in (25, 50, 75, 100)),
    ]


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        (("colour",), "NAME: there is no ablation 'colour'; known: threshold, "),
        (("alpha", "--set", "alpha=10"), "alpha: is varied by the ablation alpha"),
    ],
)
def test_an_invalid_ablation_is_refused(
    tmp_path: Path, requested: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "out"
    ran = run_scaar("eval", "ablate", *requested, "--dataset", "lab", "--out", str(out))
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not out.exists()


def test_the_theta_for_a_budget_is_found_and_printed_as_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--policy", "flare", "--budget", "1", "--set", "top_k=2")
    ran = calibrated(tmp_path, *options)
    assert ran.status == 0
    table, settings, command = ran.out.split("\n\n")
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    spent = {float(theta): float(retrievals.split()[0]) for theta, retrievals, _ in rows}
    chosen = float(next(theta for theta, _, mark in rows if mark == "chosen"))
    assert abs(spent[chosen] - 1) == min(abs(each - 1) for each in spent.values())
    assert list(spent) == sorted(spent)
    for theta, retrievals in spent.items():
        made = prediction_records(tmp_path / f"theta-{theta:g}")
        mean = sum(each["usage"]["retrievals"] for each in made) / len(made)
        assert retrievals == pytest.approx(mean, abs=5e-4)
    recommended = yaml.safe_load(settings)["generator"]["recommended"]
    assert recommended == {"flare": {"theta": chosen, "top_k": 2}}
    assert command.strip() == (
        f'scaar ask "..." --policy flare --set theta={chosen:g} --set top_k=2'
    )
    again = calibrated(tmp_path, *options)
    assert again.out == ran.out
    monkeypatch.setenv("SCAAR_GENERATOR_RECOMMENDED", json.dumps(recommended))
    requested = run_scaar("ask", "Who directed the film?", "--policy", "flare", "--json")
    policy = requested.records[0]["provenance"]["policy"]
    assert (policy["theta"], policy["sources"]["theta"]) == (chosen, SettingSource.MODEL)


def test_a_budget_out_of_reach_is_reported(tmp_path: Path) -> None:
    ran = calibrated(tmp_path, "--budget", "50")
    assert ran.status == 0
    assert "no theta reaches a budget of 50 retrievals; the nearest spends" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--policy", "ircot", "--budget", "1"), "--policy: ircot has no theta"),
        (("--policy", "maybe", "--budget", "1"), "there is no policy 'maybe'"),
        (("--budget", "0"), "--budget: must be above 0, not 0"),
        (("--budget", "1", "--set", "theta=0.3"), "--set: cannot fix theta, which is calibrated"),
        (("--budget", "1", "--out", "{notes}"), "contains a.txt, not of a calibration"),
    ],
)
def test_an_invalid_calibration_is_refused(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    requested = [each.format(notes=tmp_path / "notes") for each in options]
    ran = calibrated(tmp_path / "out", *requested)
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not (tmp_path / "out").exists()
