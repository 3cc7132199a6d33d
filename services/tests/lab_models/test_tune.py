"""``scaar tune`` on the lab's models: tuning, resuming, serving, and thresholds alone."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scaar.core.policies.artefact_json import artefact_from_json
from scaar.core.types import LabelKind, PolicyArtefact
from scaar.evaluator.store.folder import DATABASE
from scaar.testing.commands import Ran, run_scaar
from scaar.testing.evaluations import prediction_records

USAGE = 2
TUNE = ("tune", "--dataset", "lab", "--seed", "11", "--seed", "12", "--limit", "12")
SMALL = (
    *("--trigger", "flare,perplexity,learned", "--query", "current_sentence"),
    *("--label", "wrong"),
)


def tuned(out: Path, *options: str) -> Ran:
    return run_scaar(*TUNE, *SMALL, "--budget", "1.4", "--out", str(out), *options)


def thresholds(folder: Path, *options: str) -> Ran:
    only = ("--only", "threshold", "--dataset", "lab", "--limit", "24")
    where = ("--out", str(folder / "policy.json"), "--work", str(folder / "work"))
    return run_scaar("tune", *only, *where, *options)


def out_work(out: Path) -> Path:
    return out.with_suffix(".tuning")


def trajectories(folder: Path) -> list[tuple[str, int, str]]:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        chosen = "SELECT part, position, record FROM study_records ORDER BY part, position"
        return connection.execute(chosen).fetchall()


def read(path: Path) -> PolicyArtefact:
    return artefact_from_json(path.read_bytes(), str(path))


def test_a_tuned_policy_is_served_with_the_figures_of_its_tuning(tmp_path: Path) -> None:
    out = tmp_path / "tuned-lab.json"
    ran = tuned(out, "--format", "json")
    assert ran.status == 0, ran.err
    artefact = read(out)
    (chosen,) = (each for each in ran.records if each["mark"] == "chosen")
    assert artefact.settings.theta == chosen["theta"]
    assert "The chosen policy on all questions: f1 " in ran.err
    assert "than the trajectories state" not in ran.err
    assert (artefact.name, artefact.label_kind) == ("tuned-lab", LabelKind.EXACT)
    assert artefact.tuned_on.index == "lab-11, lab-12"
    assert artefact.development.questions == 24
    assert artefact.development.candidates == len(ran.records)
    assert artefact.development.optimism is not None
    assert artefact.expected.searches_per_answer == pytest.approx(1.4, abs=0.15)
    asked = run_scaar("ask", "Who directed the film?", "--json", "--policy-file", str(out))
    assert asked.records[-1]["provenance"]["artefact_digest"] == artefact.digest
    # The figures are those of an evaluation of the artefact.
    results = tmp_path / "results"
    searches = []
    for seed in ("11", "12"):
        evaluated = run_scaar(
            *("eval", "run", "--dataset", "lab", "--seed", seed, "--limit", "12"),
            *("--policy-file", str(out), "--out", str(results / seed)),
        )
        assert evaluated.status == 0, evaluated.err
        made = prediction_records(results / seed)
        searches += [each["usage"].get("searches", 0) for each in made]
    assert sum(searches) / len(searches) == pytest.approx(
        artefact.expected.searches_per_answer, abs=1e-3
    )


def test_a_tuning_resumes_without_a_model_call_and_with_the_same_result(tmp_path: Path) -> None:
    out, work = tmp_path / "policy.json", tmp_path / "policy.tuning"
    first = tuned(out)
    assert first.status == 0, first.err
    artefact, made = out.read_bytes(), trajectories(work)
    # Half of them were not made yet.
    with closing(sqlite3.connect(work / DATABASE)) as connection, connection:
        connection.execute("DELETE FROM study_records WHERE part != 'questions' AND rowid % 2")
    assert len(trajectories(work)) < len(made)
    again = tuned(out)
    assert (again.status, again.out) == (0, first.out)
    assert out.read_bytes() == artefact
    assert trajectories(work) == made
    other = tuned(out, "--timeout", "50")
    assert other.status == USAGE
    assert "--work: " in other.err
    assert "contains another tuning: timeout_s is 60.0 in the stored one" in other.err


UNITS = ("llm_calls", "prompt_tokens", "generated_tokens", "searches", "scored_sentences")


def test_a_latency_weight_prefers_fewer_passages_if_reading_takes_long(tmp_path: Path) -> None:
    out, report = tmp_path / "fast.json", tmp_path / "report.json"
    times = {**dict.fromkeys(UNITS, "0"), "prompt_tokens": "50"}
    given = [f"--unit-time={name}={ms}" for name, ms in times.items()]
    only = ("--trigger", "perplexity", "--report", str(report))
    ran = tuned(out, "--latency-weight", "0.2", *given, *only)
    assert ran.status == 0, ran.err
    artefact = read(out)
    assert artefact.settings.top_k == 1
    assert artefact.latency is not None
    assert artefact.latency.weight == 0.2
    assert {each.unit: each.ms for each in artefact.latency.unit_times_ms}["prompt_tokens"] == 50
    assert "Candidates are compared by f1 minus 0.2 a second." in ran.err
    candidates = json.loads(report.read_bytes())["candidates"]
    few, many = (
        [each["seconds"]["value"] for each in candidates if each["top_k"] == top_k]
        for top_k in (1, 3)
    )
    assert max(few) < min(many)
    # Nothing was timed, because every time was given.
    assert not any(part.startswith("times of") for part, _, _ in trajectories(out_work(out)))


def test_the_share_of_words_in_the_query_is_chosen(tmp_path: Path) -> None:
    out = tmp_path / "shares.json"
    ran = run_scaar(
        *("tune", "--dataset", "lab", "--seed", "11", "--limit", "12", "--budget", "1"),
        *("--trigger", "flare", "--query", "pfq", "--alpha", "25,100", "--out", str(out)),
        *("--format", "json"),
    )
    assert ran.status == 0, ran.err
    assert {each["alpha"] for each in ran.records} == {25, 100}
    (chosen,) = (each for each in ran.records if each["mark"] == "chosen")
    artefact = read(out)
    assert artefact.settings.alpha == chosen["alpha"]
    # The query needs the scorer, although the trigger does not.
    assert artefact.tuned_on.scorer == "lab-cross-encoder"


def test_measured_times_are_stored_so_that_a_tuning_resumes_with_the_same_result(
    tmp_path: Path,
) -> None:
    out, drafts = tmp_path / "policy.json", tmp_path / "drafts.jsonl"
    options = ("--trigger", "perplexity,learned", "--label", "wrong,benefit")
    options += ("--latency-weight", "0.5", "--drafts", str(drafts))
    first = tuned(out, *options)
    assert first.status == 0, first.err
    artefact = out.read_bytes()
    assert read(out).latency is not None
    timed = {part for part, _, _ in trajectories(out_work(out)) if part.startswith("times of")}
    assert timed == {"times of no_retrieval", "times of single_round", "times of flare"}
    again = tuned(out, *options)
    assert (again.status, again.out) == (0, first.out)
    assert out.read_bytes() == artefact
    labelled = [json.loads(line) for line in drafts.read_text().splitlines()]
    assert {True, False} <= {each["wrong"] for each in labelled}
    assert any(each["gain"] > 0 for each in labelled)
    assert all({"surprisal_max", "words"} <= each["signals"].keys() for each in labelled)
    assert all("perplexity" in each["scores"] for each in labelled)
    assert "A retrieval makes the answer better for" in first.err


def test_a_learning_curve_is_reported_beside_the_choice(tmp_path: Path) -> None:
    out, report = tmp_path / "policy.json", tmp_path / "report.json"
    options = ("--trigger", "perplexity", "--learning-curve", "12,16", "--report", str(report))
    ran = tuned(out, *options)
    assert ran.status == 0, ran.err
    points = json.loads(report.read_bytes())["learning_curve"]
    assert [each["questions"] for each in points] == [12, 16]
    assert all(each["chosen"] == ["perplexity"] * 5 for each in points)
    assert "Tuned on 12 questions, on the other folds: f1 " in ran.err


def test_the_theta_for_a_budget_is_found_by_real_runs(tmp_path: Path) -> None:
    options = ("--policy", "flare", "--budget", "1", "--set", "top_k=2")
    ran = thresholds(tmp_path, *options)
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
    again = thresholds(tmp_path, *options)
    assert again.out == ran.out


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


def test_other_data_sets_are_labelled_by_counterfactual_answers(tmp_path: Path) -> None:
    asked = run_scaar("lab", "questions", "--count", "20").records
    file, out = tmp_path / "questions.jsonl", tmp_path / "policy.json"
    fields = ("id", "question", "answers")
    file.write_text("\n".join(json.dumps({name: x[name] for name in fields}) for x in asked))
    ran = run_scaar(
        *("tune", "--dataset", f"jsonl:{file}", "--index", "lab", "--budget", "1.4"),
        *("--trigger", "learned", "--query", "current_sentence", "--out", str(out)),
    )
    assert ran.status == 0, ran.err
    artefact = read(out)
    assert artefact.label_kind is LabelKind.COUNTERFACTUAL
    assert artefact.learned is not None
    assert artefact.learned.label == "benefit"
    assert artefact.learned.harm_coefficients is not None
    refused = run_scaar(
        *("tune", "--dataset", f"jsonl:{file}", "--index", "lab", "--budget", "1.4"),
        *("--label", "wrong", "--out", str(tmp_path / "other.json")),
    )
    assert "--label: cannot be wrong: only the lab knows" in refused.err
    asked_again = run_scaar("ask", asked[0]["question"], "--json", "--policy-file", str(out))
    policy = asked_again.records[-1]["provenance"]["policy"]
    assert (policy["name"], policy["trigger"]) == ("policy", "learned")


def test_a_budget_out_of_reach_is_reported(tmp_path: Path) -> None:
    ran = thresholds(tmp_path, "--budget", "50")
    assert ran.status == 0
    assert "no theta reaches a budget of 50 searches; the nearest spends" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--policy", "ircot", "--budget", "1"), "--policy: ircot has no theta"),
        (("--policy", "maybe", "--budget", "1"), "there is no policy 'maybe'"),
        (("--budget", "0"), "--budget: must be above 0, not 0"),
        (("--budget", "1", "--set", "theta=0.3"), "--set: cannot fix theta, which is tuned"),
        (("--budget", "1", "--seed", "1", "--seed", "2"), "--seed: can be given once"),
        (("--budget", "1", "--trigger", "flare"), "--trigger: cannot be combined"),
        (("--budget", "1", "--latency-weight", "1"), "--latency-weight: cannot be combined"),
        (("--budget", "1", "--work", "{notes}"), "contains a.txt, not of a tuning"),
    ],
)
def test_an_invalid_tuning_of_a_threshold_is_refused(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    requested = [each.format(notes=tmp_path / "notes") for each in options]
    ran = thresholds(tmp_path, *requested)
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--budget: or --catch must be given"),
        (("--budget", "1", "--catch", "0.9"), "only one of them"),
        (("--catch", "1"), "--catch: must be between 0 and 1, not 1"),
        (("--catch", "0.95"), "a risk of 0.05 needs 59: add questions"),
        (("--budget", "1", "--trigger", "maybe"), "--trigger: there is no trigger 'maybe'"),
        (("--budget", "1", "--trigger", "rind"), "--trigger: rind needs attention"),
        (("--budget", "1", "--query", "question"), "--query: question does not mask"),
        (("--budget", "1", "--alpha", "50"), "--alpha: needs a query of which alpha"),
        (("--budget", "1", "--query", "pfq", "--alpha", "0"), "--alpha: must be above 0 and at"),
        (("--budget", "1", "--query", "pfq", "--alpha", "half"), "--alpha: must be numbers"),
        (("--budget", "1", "--policy", "flare"), "--policy: is for --only threshold"),
        (("--budget", "1", "--limit", "2"), "--dataset: has questions about"),
        (("--budget", "1", "--label", "maybe"), "--label: there is no label 'maybe'"),
        (("--budget", "1", "--latency-weight", "-1"), "--latency-weight: must be at least 0"),
        (("--budget", "1", "--unit-time", "searches=5"), "--unit-time: needs a latency weight"),
        (("--budget", "1", "--unit-time", "walks=5"), "--unit-time: there is no unit 'walks'"),
        (("--budget", "1", "--unit-time", "searches=-5"), "--unit-time: must be searches=MS"),
        (("--budget", "1", "--learning-curve", "some"), "--learning-curve: must be whole numbers"),
        (("--budget", "1", "--learning-curve", "24"), "--learning-curve: must be 10 to"),
        (("--catch", "0.5", "--learning-curve", "12"), "--learning-curve: needs a budget"),
        (("--budget", "1", "--out", "policy.txt"), "--out: must be a file whose name ends in"),
        (("--budget", "1", "--out", "scaar.json"), "--out: names the policy, and its name is that"),
        (("--budget", "1", "--address", "dns:///127.0.0.1:1"), "--address: is for --only"),
        (("--budget", "1", "--work", "{notes}"), "contains a.txt but no evaluations.sqlite"),
    ],
)
def test_an_invalid_tuning_is_refused_before_any_work(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    requested = [each.format(notes=tmp_path / "notes") for each in options]
    ran = run_scaar(*TUNE, "--out", str(tmp_path / "policy.json"), *requested)
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not (tmp_path / "policy.tuning").exists()
