"""Artefacts of tuned policies with the lab's models: asking, evaluating, and the doctor."""

from pathlib import Path

import pytest

from scaar.core.policies.artefact_json import artefact_to_json
from scaar.core.types import PolicyArtefact, PolicyOverrides, TuningConditions
from scaar.embedded import open_sync_client
from scaar.evaluator.store.folder import read_results
from scaar.lab.questions import Question
from scaar.testing.artefacts import LEARNED, artefact_of
from scaar.testing.commands import run_scaar
from scaar.testing.processes import running_service

FOLDER = "SCAAR_ORCHESTRATOR_POLICY_FOLDER"
NAME = "tuned-1.4"
TUNED_ON = TuningConditions(
    model="lab-lm",
    scorer="lab-cross-encoder",
    index="lab",
    index_engine="bm25s",
    index_version="0ld",
    analysis="english-1",
)
SETTINGS = PolicyOverrides(trigger="learned", theta=0.6, top_k=2)


def written(folder: Path, tuned_on: TuningConditions = TUNED_ON) -> tuple[Path, PolicyArtefact]:
    artefact = artefact_of(NAME, settings=SETTINGS, learned=LEARNED, tuned_on=tuned_on)
    path = folder / "policy.json"
    path.write_bytes(artefact_to_json(artefact))
    return path, artefact


def test_a_question_is_answered_from_the_file_of_a_policy(
    tail_questions: list[Question], tmp_path: Path
) -> None:
    path, artefact = written(tmp_path)
    question = tail_questions[0].question
    ran = run_scaar("ask", question, "--json", "--policy-file", str(path))
    assert (ran.status, ran.err) == (0, "")
    provenance = ran.records[-1]["provenance"]
    assert (provenance["artefact"], provenance["artefact_digest"]) == (NAME, artefact.digest)
    (difference,) = provenance["artefact_mismatch"]
    assert difference.startswith("index version: tuned on lab 0ld, used with lab ")
    assert provenance["policy"]["trigger"] == "learned"
    assert provenance["policy"]["sources"]["theta"] == "artefact"
    shown = run_scaar("ask", question, "--policy-file", str(path))
    assert f"{NAME}: trigger learned (tuned), theta 0.6 (tuned)" in " ".join(shown.out.split())
    for given in ([path], str(path)):
        with open_sync_client(policy_files=given) as client:
            embedded = client.answer(question, policy=NAME)
        assert embedded.answer == ran.records[-1]["answer"]


def test_the_options_of_a_policy_file_are_checked(tmp_path: Path) -> None:
    path, _ = written(tmp_path)
    option = ("ask", "Who?", "--policy-file", str(path))
    assert "cannot be combined with --policy" in run_scaar(*option, "--policy", "flare").err
    ran = run_scaar(*option, "--address", "dns:///127.0.0.1:1")
    assert "name the policy with --policy" in ran.err
    path.write_text(path.read_text().replace('"theta": 0.6', '"theta": 6'))
    ran = run_scaar(*option)
    assert ran.status == 1
    assert "settings.theta: must be in (0, 1] for trigger learned, not 6" in ran.err


def test_a_policy_of_another_model_is_refused_unless_it_is_allowed(
    tail_questions: list[Question], tmp_path: Path
) -> None:
    path, _ = written(tmp_path, TuningConditions("lab-lm-b"))
    option = ("ask", tail_questions[0].question, "--json", "--policy-file", str(path))
    refused = run_scaar(*option)
    assert refused.status != 0
    assert "model: tuned on lab-lm-b, used with lab-lm" in refused.err
    allowed = run_scaar(*option, "--allow-mismatch").records[-1]["provenance"]
    assert allowed["artefact_mismatch"] == ["model: tuned on lab-lm-b, used with lab-lm"]


def test_a_served_policy_is_asked_by_name_and_listed_by_the_doctor(
    tail_questions: list[Question], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    written(folder)
    monkeypatch.setenv(FOLDER, str(folder))
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DEFAULT_POLICY", NAME)
    ran = run_scaar("ask", tail_questions[0].question, "--json")
    assert ran.records[-1]["provenance"]["artefact"] == NAME
    doctor = run_scaar("doctor")
    assert f"! tuned policy {NAME}: " in doctor.out
    assert "index version: tuned on lab 0ld" in doctor.out
    (folder / "broken.json").write_text("{}")
    doctor = run_scaar("doctor")
    assert doctor.status == 1
    assert f"✗ tuned policy: {folder / 'broken.json'}: has no format" in doctor.out
    assert "has no format" in run_scaar("ask", tail_questions[0].question).err


def test_the_policy_that_ships_with_a_lab_model_is_requested_by_its_name(
    tail_questions: list[Question], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = tail_questions[0].question
    provenance = run_scaar("ask", question, "--json", "--policy", NAME).records[-1]["provenance"]
    assert (provenance["artefact"], provenance["artefact_mismatch"]) == (NAME, [])
    with open_sync_client() as client:
        assert NAME in [each.name for each in client.list_policies()]
    assert f"✓ tuned policy {NAME}: " in run_scaar("doctor").out
    # An artefact of the same name replaces it, and so does a folder.
    path, own = written(tmp_path)
    ran = run_scaar("ask", question, "--json", "--policy-file", str(path))
    assert ran.records[-1]["provenance"]["artefact_digest"] == own.digest
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(FOLDER, str(tmp_path / "empty"))
    assert f"there is no policy '{NAME}'" in run_scaar("ask", question, "--policy", NAME).err
    monkeypatch.delenv(FOLDER)
    # Another model has a policy of its own by this name.
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "lab-lm-b")
    ran = run_scaar("ask", question, "--json", "--policy", NAME)
    other = ran.records[-1]["provenance"]
    assert other["artefact_mismatch"] == []
    assert other["artefact_digest"] != provenance["artefact_digest"]


def test_an_evaluation_compares_a_tuned_policy_with_published_ones(tmp_path: Path) -> None:
    path, artefact = written(tmp_path)
    out = tmp_path / "results"
    ran = run_scaar(
        *("eval", "run", "--dataset", "lab", "--limit", "4", "--out", str(out)),
        *("--policies", "no_retrieval", "--policy-file", str(path)),
    )
    assert ran.status == 0, ran.err
    results = read_results(out)
    assert [each.label for each in results.evaluation.settings] == ["no_retrieval", NAME]
    made = results.evaluation.provenance[NAME]
    assert (made.artefact_digest, made.policy.trigger) == (artefact.digest, "learned")
    assert NAME in ran.out


def test_a_shipped_policy_is_evaluated_by_its_name(tmp_path: Path) -> None:
    evaluated = ("eval", "run", "--dataset", "lab", "--seed", "1500", "--limit", "4")
    ran = run_scaar(*evaluated, "--policies", f"flare,{NAME}", "--out", str(tmp_path / "out"))
    assert ran.status == 0, ran.err
    labels = [each.label for each in read_results(tmp_path / "out").evaluation.settings]
    assert labels == ["flare", NAME]
    unknown = run_scaar(*evaluated, "--policies", "tuned-9", "--out", str(tmp_path / "other"))
    assert "there is no policy 'tuned-9'" in unknown.err


@pytest.mark.long
def test_a_policy_of_a_running_orchestrator_is_evaluated_by_its_name(
    lab_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    _, artefact = written(folder)
    evaluated = ("eval", "run", "--dataset", "lab", "--limit", "4", "--policies", f"flare,{NAME}")
    outs = [tmp_path / name for name in ("here", "remote", "service")]
    outs[2].mkdir()
    with running_service("orchestrator", lab_home, **{FOLDER: str(folder)}) as orchestrator:
        address = ("--address", orchestrator.target)
        assert run_scaar(*evaluated, *address, "--out", str(outs[1])).status == 0
        variables = {
            "SCAAR_EVALUATOR_DATABASE": f"sqlite:///{outs[2] / 'evaluations.sqlite'}",
            "SCAAR_EVALUATOR_ORCHESTRATOR_TARGET": orchestrator.target,
        }
        with running_service("evaluator", lab_home, **variables) as service:
            target = ("--target", service.target)
            created = run_scaar(*evaluated, *target)
            assert created.status == 0, created.err
            unknown = run_scaar(*evaluated[:-1], "tuned-9", *target)
            assert "policies[0].name: there is no policy 'tuned-9'" in unknown.err
            assert NAME in unknown.err
    monkeypatch.setenv(FOLDER, str(folder))
    assert run_scaar(*evaluated, "--out", str(outs[0])).status == 0
    here, *others = [read_results(out) for out in outs]
    for other in others:
        assert [each.label for each in other.evaluation.settings] == ["flare", NAME]
        made = other.evaluation.provenance[NAME]
        assert (made.artefact, made.artefact_digest) == (NAME, artefact.digest)
        assert dict(made.policy.sources)["theta"] == "artefact"
        assert [each.text for each in other.predictions] == [each.text for each in here.predictions]
