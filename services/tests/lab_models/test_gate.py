"""``--gate``: the lab's model behind a gate that says the same of every question."""

from pathlib import Path

import pytest

from scaar.core.gates import read_gate
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.proxy_json import proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.store.folder import read_results
from scaar.lab.questions import Question
from scaar.testing.commands import run_scaar
from scaar.testing.processes import running_service

FILE = "SCAAR_ORCHESTRATOR_GATE_FILE"
EVEN = GateProxy("lab-lm", "", WordStatistics("none", {}, 0.1), 0.0, (0.0, 0.0, 0.0), 0.5)
"""Of which every question is long-tail with the probability 0.5."""
GATED = ("--policy", "single_round", "--gate", "gece_proxy")


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gate.json"
    path.write_bytes(proxy_to_json(EVEN, learned_from={}))
    monkeypatch.setenv(FILE, str(path))


def ask(question: Question, *options: str) -> list[dict[str, object]]:
    ran = run_scaar("ask", question.question, "--json", *options)
    assert (ran.status, ran.err) == (0, "")
    return ran.records


@pytest.mark.usefixtures("gate")
def test_a_common_question_is_answered_by_the_model_alone(tail_questions: list[Question]) -> None:
    question = tail_questions[0]
    gated = ask(question, *GATED, "--set", "gate_threshold=0.6")
    (judged,) = (event for event in gated if event["event"] == "gate_judged")
    assert judged["policy"] == "no_retrieval"
    assert (judged["probability"], judged["threshold"]) == (0.5, 0.6)
    alone = ask(question, "--policy", "no_retrieval")
    assert [gated[-1][name] for name in ("text", "retrievals", "llm_calls")] == [
        alone[-1][name] for name in ("text", "retrievals", "llm_calls")
    ]


@pytest.mark.usefixtures("gate")
def test_a_question_of_the_long_tail_is_answered_by_the_policy(
    tail_questions: list[Question],
) -> None:
    question = tail_questions[0]
    gated = ask(question, *GATED)[-1]
    ungated = ask(question, "--policy", "single_round")[-1]
    assert (gated["text"], gated["retrievals"]) == (ungated["text"], 1)


@pytest.mark.usefixtures("gate")
def test_an_evaluation_asks_policies_without_the_gate_and_behind_it(tmp_path: Path) -> None:
    out = tmp_path / "results"
    ran = run_scaar(
        *("eval", "run", "--dataset", "lab", "--limit", "5", "--tail-share", "0.2"),
        *("--policies", "no_retrieval,single_round", "--gate", "gece_proxy,gece_proxy:0.6,targ"),
        *("--out", str(out)),
    )
    assert ran.status == 0, ran.err
    results = read_results(out)
    assert (results.missing, results.evaluation.dataset.tail_share) == (0, 0.2)
    found: dict[str, list[tuple[str, int]]] = {}
    for each in results.predictions:
        found.setdefault(each.setting, []).append((each.text, each.usage.retrievals))
    behind = "single_round:gate=gece_proxy"
    assert found[behind] == found["single_round"]
    assert found[f"{behind},gate_threshold=0.6"] == found["no_retrieval"]
    judged = [each.gate for each in results.predictions if each.setting == behind]
    assert [each and each.policy for each in judged] == ["single_round"] * 5
    compared = run_scaar("eval", "judgements", str(out), "--format", "json")
    rows = {each["choice"]: each for each in compared.records}
    assert list(rows)[:3] == ["never", "always", "oracle"]
    assert rows[behind]["f1"] == rows["always"]["f1"]
    assert rows[behind]["auroc"] == 0.5  # the same judgement of every question
    _fits_a_threshold(out, tmp_path / "targ.json")


def _fits_a_threshold(results: Path, path: Path) -> None:
    fit = ("eval", "fit-gate", str(results), "--gate", "targ", "--budget", "0.4")
    ran = run_scaar(*fit, "--out", str(path), "--format", "json")
    assert ran.status == 0, ran.err
    ((fitted,), gate) = (ran.records, read_gate(path.read_bytes(), "targ.json"))
    assert (gate.name, gate.threshold) == ("targ", fitted["threshold"])
    assert (fitted["questions"], fitted["retrieved"]) == (5, 0.4)
    # The gate without a file judged these questions.
    again = run_scaar(*fit, "--file", str(path), "--out", str(path))
    assert again.status != 0
    assert "--file: the evaluation was made with no gate file" in again.err
    missing = run_scaar(*fit, "--file", str(path.with_name("none")), "--out", str(path))
    assert "none cannot be read: No such file" in missing.err


@pytest.mark.long
def test_a_router_is_fitted_to_an_evaluation_and_chooses_the_policy_of_each_question(
    lab_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated = ("eval", "run", "--dataset", "lab", "--seed", "1500")
    policies = ("--policies", "no_retrieval,single_round,ircot")
    out, path = tmp_path / "results", tmp_path / "router.json"
    ran = run_scaar(*evaluated, "--limit", "24", *policies, "--out", str(out))
    assert ran.status == 0, ran.err
    fitted = run_scaar("eval", "router", "fit", str(out), "--out", str(path), "--format", "json")
    assert fitted.status == 0, fitted.err
    choosers = [*policies[1].split(","), "adaptive_rag", "silver labels"]
    assert [each["policy"] for each in fitted.records] == choosers
    monkeypatch.setenv(FILE, str(path))
    gated = tmp_path / "gated"
    ran = run_scaar(
        *(*evaluated, "--limit", "6", *policies, "--gate", "adaptive_rag", "--out", str(gated))
    )
    assert ran.status == 0, ran.err
    results = read_results(gated)
    texts = {(each.setting, each.question_id): each.text for each in results.predictions}
    routed = [each for each in results.predictions if each.setting.endswith("gate=adaptive_rag")]
    assert len(routed) == 6
    for each in routed:
        assert each.gate is not None
        assert each.text == texts[each.gate.policy, each.question_id]
    question = results.questions[0].question
    asked = ("ask", question, "--json", "--policy", "ircot", "--gate", "adaptive_rag")
    with running_service("orchestrator", lab_home, **{FILE: str(path)}) as orchestrator:
        remote = run_scaar(*asked, "--address", orchestrator.target).records
    for events in (remote, run_scaar(*asked).records):
        assert events[-1]["text"] == routed[0].text
        (judged,) = (event for event in events if event["event"] == "gate_judged")
        assert judged["policy"] == (routed[0].gate and routed[0].gate.policy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--policies", "flare"), "--policies: must name at least two"),
        (("--policies", "flare,flare"), "--policies: flare is named twice"),
        (("--policies", "flare,guess"), "--policies: there is no policy 'guess'"),
        (("--unanswered", "guess"), "--unanswered: must be one of no_retrieval, single_round, "),
        ((), "contains no evaluation"),
    ],
)
def test_a_router_that_cannot_be_fitted_is_refused(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    out = ("--out", str(tmp_path / "router.json"))
    ran = run_scaar("eval", "router", "fit", str(tmp_path / "none"), *out, *options)
    assert ran.status != 0
    assert message in ran.err
    assert not (tmp_path / "router.json").exists()


def test_without_its_file_a_gate_is_one_line_that_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(FILE, raising=False)
    ran = run_scaar("ask", "Who?", *GATED)
    assert (ran.status, len(ran.err.splitlines())) == (1, 1)
    assert f"the orchestrator has none: set {FILE}" in ran.err
    monkeypatch.setenv(FILE, str(tmp_path / "none.json"))
    ran = run_scaar("ask", "Who?")
    assert (ran.status, len(ran.err.splitlines())) == (2, 1)
    assert (
        f"SCAAR_ORCHESTRATOR_GATE_FILE: {tmp_path / 'none.json'} cannot be read: No such file"
        in ran.err
    )
