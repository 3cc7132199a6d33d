"""Joined evaluations of the lab's model as a white box and as a black box."""

import csv
from pathlib import Path

import pytest

from scaar.testing.commands import Ran, run_scaar
from scaar.testing.evaluations import evaluation_record

from .test_lab_openai import serving, use

FAILURE = 1
POLICIES = "no_retrieval,dragin,mean_entropy,scaar"


def evaluated(out: Path, *options: str) -> Ran:
    requested = ("--dataset", "lab", "--limit", "16", "--policies", POLICIES, "--grid", "2")
    return run_scaar("eval", "run", *requested, "--out", str(out), *options)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
def test_a_black_and_a_white_box_are_evaluated_with_one_plan_and_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    white, black, both = (tmp_path / name for name in ("white", "black", "both"))
    ran = evaluated(white, "--skip-unserved")
    assert (ran.status, "left out" in ran.err) == (0, False)
    assert evaluation_record(white)["left_out"] == []
    with serving("vllm") as server:
        use(monkeypatch, server)
        refused = evaluated(black)
        assert refused.status == FAILURE
        assert "policy dragin needs attention, entropy" in " ".join(refused.err.split())
        ran = evaluated(black, "--skip-unserved")
        assert ran.status == 0
        again = evaluated(black, "--skip-unserved")
    assert (again.status, again.out) == (0, ran.out)
    message = " ".join(ran.err.split())
    assert "left out, because the model cannot serve them: dragin (lacking: attention" in message
    report = (black / "report.md").read_text()
    assert "Left out because the model cannot serve them: dragin (lacking: attention" in report
    assert [each["setting"]["label"] for each in evaluation_record(black)["left_out"]] == [
        "dragin",
        "mean_entropy",
    ]
    ran = run_scaar("eval", "join", str(white), str(black), "--out", str(both))
    assert ran.status == 0
    table = rows(both / "tables" / "joined_policies.csv")
    assert [row["policy"] for row in table] == POLICIES.split(",") * 2
    assert [row["f1_note"] == "not served" for row in table] == [False] * 5 + [True, True, False]
    assert len({row["model"] for row in table}) == 2


def test_evaluations_that_differ_in_top_k_are_plotted_over_it(tmp_path: Path) -> None:
    folders = []
    for count in ("1", "3"):
        out = tmp_path / f"top-{count}"
        requested = ("--dataset", "lab", "--limit", "12", "--policies", "single_round,scaar")
        ran = run_scaar("eval", "run", *requested, "--top-k", count, "--out", str(out))
        assert ran.status == 0
        folders.append(str(out))
    ran = run_scaar("eval", "join", *folders, "--out", str(tmp_path / "joined"))
    assert ran.status == 0
    swept = rows(tmp_path / "joined" / "tables" / "sweep_f1.csv")
    assert [row["policy"] for row in swept] == ["single_round", "scaar"]
    assert {"1", "3"} <= set(swept[0])
    assert (tmp_path / "joined" / "figures" / "sweep_retrievals.svg").exists()
