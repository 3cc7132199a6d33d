"""``scaar tune --only threshold`` on the lab's models."""

import json
from pathlib import Path

import pytest

from scaar.core.types import LabelKind
from scaar.testing.commands import run_scaar
from scaar.testing.evaluations import prediction_records

from .tunings import read, threshold_tuned


def test_the_theta_for_a_budget_is_found_by_real_runs(tmp_path: Path) -> None:
    options = ("--policy", "flare", "--budget", "1", "--set", "top_k=2")
    ran = threshold_tuned(tmp_path, *options)
    assert ran.status == 0, ran.err
    rows = [[c.strip() for c in row.strip("|").split("|")] for row in ran.out.splitlines()[2:]]
    spent = {float(theta): float(searches.split()[0]) for theta, searches, _ in rows}
    chosen = float(next(theta for theta, _, mark in rows if mark == "chosen"))
    assert abs(spent[chosen] - 1) == min(abs(each - 1) for each in spent.values())
    assert list(spent) == sorted(spent)
    for theta, searches in spent.items():
        made = prediction_records(tmp_path / "work" / f"theta-{theta:g}")
        mean = sum(each["usage"].get("searches", 0) for each in made) / len(made)
        assert searches == pytest.approx(mean, abs=5e-4)
    artefact = read(tmp_path / "policy.json")
    assert (artefact.policy, artefact.label_kind) == ("flare", LabelKind.NONE)
    assert artefact.settings.given() == {"theta": chosen, "top_k": 2}
    assert artefact.expected.searches_per_answer == pytest.approx(spent[chosen], abs=1e-3)
    again = threshold_tuned(tmp_path, *options)
    assert again.out == ran.out


def test_a_policy_is_tuned_under_a_prompt_profile_and_refused_under_another(
    tmp_path: Path,
) -> None:
    options = ("--policy", "flare", "--budget", "1", "--limit", "8", "--prompt-profile", "dragin")
    ran = threshold_tuned(tmp_path, *options)
    assert ran.status == 0, ran.err
    path = tmp_path / "policy.json"
    assert read(path).tuned_on.prompt_profile == "dragin@1"
    refused = run_scaar("ask", "Who directed the film?", "--policy-file", str(path))
    assert refused.status == 1
    assert "prompt profile: tuned on dragin@1, used with lab@1" in refused.err


def test_a_budget_out_of_reach_is_reported(tmp_path: Path) -> None:
    ran = threshold_tuned(tmp_path, "--budget", "50", "--limit", "8")
    assert ran.status == 0
    assert "no theta reaches a budget of 50 searches; the nearest spends" in ran.err


def test_questions_without_answers_tune_the_threshold_alone(tmp_path: Path) -> None:
    asked = run_scaar("lab", "questions", "--count", "16").records
    file, out = tmp_path / "questions.jsonl", tmp_path / "policy.json"
    lines = (json.dumps({"id": each["id"], "question": each["question"]}) for each in asked)
    file.write_text("\n".join(lines))
    drawn = ("--dataset", f"questions:{file}", "--index", "lab", "--budget", "1")
    ran = run_scaar("tune", *drawn, "--policy", "flare", "--out", str(out))
    assert ran.status == 0, ran.err
    artefact = read(out)
    assert artefact.label_kind is LabelKind.NONE
    assert artefact.settings.theta is not None
    refused = run_scaar("tune", *drawn, "--catch", "0.9", "--out", str(out))
    assert "--budget: or --catch must be given, and only one of them" in refused.err
    evaluated = run_scaar("eval", "run", *drawn[:4], "--out", str(tmp_path / "results"))
    assert "there is no data set 'questions'" in evaluated.err
