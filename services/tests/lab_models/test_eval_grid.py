"""Grids and ablations on the lab's models, by real runs."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scaar.evaluator.splits import Split, split_of
from scaar.testing.commands import run_scaar
from scaar.testing.evaluations import evaluation_record, question_records

USAGE = 2


def first_pass(out: Path) -> list[dict[str, Any]]:
    """The predictions of the first pass of a grid."""
    chosen = (
        "SELECT predictions.record FROM predictions JOIN evaluations "
        "ON predictions.evaluation = number WHERE parent IS NOT NULL"
    )
    with closing(sqlite3.connect(out / "evaluations.sqlite")) as database:
        return [json.loads(record) for (record,) in database.execute(chosen)]


@pytest.mark.long
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
