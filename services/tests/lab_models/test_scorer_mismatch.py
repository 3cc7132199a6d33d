"""A scorer for other texts than those of the model or the index is refused at every door."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaar.client import ScorerMismatch, open_sync_client
from scaar.embedded import open_client
from scaar.lab.models import LAB_CROSS_ENCODER, LAB_LM, model_folder
from scaar.lab.questions import Question
from scaar.testing.commands import run_scaar
from scaar.testing.processes import running_service
from scaar.testing.word_encoder import write_word_encoder

from .test_up import free_base_port

QUESTION = "Who directed the film The Haunted Fountain?"
METADATA = b"\x72\x06\x0a\x01k\x12\x01v"
"""An entry of an ONNX file's metadata, which changes the file's digest and nothing else."""
DEFAULT = "scaar (SCAAR_ORCHESTRATOR_DEFAULT_POLICY)"
REFUSED = "scorer lab-cross-encoder is for texts of the kind lab, and model mine on engine onnx is"
WITHOUT = "contributions need a scorer, and none is set: install scaar-english, set"


def copy_of(name: str, folder: Path, *, profile: str = "") -> Path:
    """A lab model that is known neither by its digest nor, with another profile, by that."""
    shutil.copytree(model_folder(name), folder)
    (folder / "training_report.json").unlink()
    with (folder / "model.onnx").open("ab") as model:
        model.write(METADATA)
    if profile:
        (folder / "scaar.json").write_text(json.dumps({"prompt_profile": profile}))
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a language model and of a scorer that are not the lab's."""
    root = tmp_path_factory.mktemp("models")
    copy_of(LAB_LM, root / "mine", profile="scaar")
    copy_of(LAB_CROSS_ENCODER, root / "similar")
    return root


@pytest.fixture
def own_model(folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is not the lab's, and no scorer: scaar-english has no weights."""
    package = tmp_path / "without" / "scaar_english"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in [each for each in sys.modules if each.split(".")[0] == "scaar_english"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", str(folders / "mine"))


@pytest.fixture
def lab_scorer(own_model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same model with the lab's scorer."""
    monkeypatch.setenv("SCAAR_SCORER_MODEL", str(model_folder(LAB_CROSS_ENCODER)))


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[str]:
    """The name of an index of documents."""
    (tmp_path / "page.md").write_text("# Leave\n\nParental leave is ten weeks.")
    ran = run_scaar("index", "build", "handbook", "--from", str(tmp_path))
    assert ran.status == 0, ran.err
    yield "handbook"
    run_scaar("index", "drop", "handbook")


@pytest.mark.usefixtures("lab_scorer")
def test_ask_and_the_embedded_client_refuse_the_labs_scorer_with_another_model() -> None:
    ran = run_scaar("ask", QUESTION)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"scaar: {REFUSED}")
    assert ran.err.count("\n") == 1
    assert "set SCAAR_GENERATOR_PROMPT_PROFILE=lab if the model is of this kind" in ran.err
    answered = run_scaar("ask", QUESTION, "--policy", "flare")
    assert (answered.status, answered.err) == (0, "")


@pytest.mark.usefixtures("lab_scorer")
async def test_the_embedded_client_refuses_it() -> None:
    async with open_client() as client:
        with pytest.raises(ScorerMismatch, match=REFUSED):
            await client.answer(QUESTION)
        assert (await client.answer(QUESTION, policy="flare")).text


@pytest.mark.usefixtures("own_model")
def test_without_a_scorer_policies_without_contributions_answer() -> None:
    ran = run_scaar("ask", QUESTION)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"scaar: {WITHOUT}")
    answered = run_scaar("ask", QUESTION, "--policy", "flare")
    assert (answered.status, answered.err) == (0, "")


@pytest.mark.usefixtures("lab_scorer")
def test_an_evaluation_refuses_it(tmp_path: Path) -> None:
    requested = ("eval", "run", "--dataset", "lab", "--limit", "2", "--out", str(tmp_path / "out"))
    ran = run_scaar(*requested, "--policies", "flare,scaar")
    assert ran.status == 1
    assert f"scaar: {REFUSED}" in ran.err
    assert run_scaar(*requested, "--policies", "flare").status == 0


@pytest.mark.usefixtures("lab_scorer")
def test_a_tuning_refuses_it(tmp_path: Path) -> None:
    ran = run_scaar(
        *("tune", "--dataset", "lab", "--seed", "11", "--limit", "20", "--budget", "1.4"),
        *("--out", str(tmp_path / "policy.json")),
    )
    assert ran.status == 1
    assert REFUSED in " ".join(ran.err.split())


@pytest.mark.usefixtures("lab_scorer")
def test_doctor_reports_it_as_a_problem_with_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert f"✗ scorer model: {REFUSED} not of this kind\n    To correct this, set" in ran.out
    assert "✓ scorer model" not in ran.out
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_ALLOW_SCORER_MISMATCH", "true")
    allowed = run_scaar("doctor")
    assert (allowed.status, "! scorer model" in allowed.out) == (0, True)


@pytest.mark.usefixtures("own_model")
def test_doctor_reports_a_missing_scorer_if_the_default_policy_needs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert f"✗ scorer model: there is none for this model\n    {WITHOUT}" in ran.out
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DEFAULT_POLICY", "flare")
    warned = run_scaar("doctor")
    assert (warned.status, f"! scorer model: {WITHOUT}" in warned.out) == (0, True)


def serve(name: str, lab_home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A service that does not start."""
    path = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(lab_home)}
    return subprocess.run(
        [sys.executable, "-m", "scaar.cli", "serve", name, "--address", "127.0.0.1:0"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **path, **variables},
    )


@pytest.mark.usefixtures("lab_scorer")
def test_an_orchestrator_whose_default_policy_needs_the_scorer_does_not_start(
    lab_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = serve("orchestrator", lab_home)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"scaar: policy {DEFAULT}: {REFUSED}")
    shadowed = {
        "SCAAR_ORCHESTRATOR_DEFAULT_POLICY": "flare",
        "SCAAR_ORCHESTRATOR_SHADOW_POLICY": "scaar",
    }
    assert serve("orchestrator", lab_home, **shadowed).returncode == 1
    monkeypatch.delenv("SCAAR_SCORER_MODEL")
    for name in ("orchestrator", "scorer"):
        ran = serve(name, lab_home)
        assert (ran.returncode, WITHOUT in ran.stderr) == (1, True)


@pytest.mark.usefixtures("lab_scorer")
def test_an_orchestrator_of_services_refuses_it_in_every_answer_and_evaluation(
    lab_home: Path, tmp_path: Path
) -> None:
    with (
        running_service("generator", lab_home) as generator,
        running_service("scorer", lab_home) as scorer,
        running_service(
            "orchestrator",
            lab_home,
            SCAAR_ORCHESTRATOR_GENERATOR_TARGET=generator.target,
            SCAAR_ORCHESTRATOR_SCORER_TARGET=scorer.target,
            SCAAR_ORCHESTRATOR_DEFAULT_POLICY="flare",
        ) as orchestrator,
        running_service(
            "evaluator",
            lab_home,
            SCAAR_EVALUATOR_ORCHESTRATOR_TARGET=orchestrator.target,
            SCAAR_EVALUATOR_DATABASE=f"sqlite:///{tmp_path}/evaluations.sqlite",
        ) as evaluator,
    ):
        with open_sync_client(orchestrator.target) as client:
            assert client.answer(QUESTION).text
            with pytest.raises(ScorerMismatch, match=REFUSED):
                client.answer(QUESTION, policy="scaar")
        examined = run_scaar("doctor", "--address", orchestrator.target)
        assert (examined.status, REFUSED in examined.out) == (1, True)
        ran = run_scaar(
            *("eval", "run", "--dataset", "lab", "--limit", "2", "--policies", "scaar"),
            *("--target", evaluator.target),
        )
        assert (ran.status != 0, REFUSED in " ".join(ran.err.split())) == (True, True)


@pytest.mark.usefixtures("lab_scorer")
def test_up_stops_with_the_line(lab_home: Path) -> None:
    ran = up(lab_home)
    assert ran.returncode == 1
    assert f"scaar: policy {DEFAULT}: {REFUSED}" in ran.stderr


@pytest.mark.usefixtures("own_model")
def test_up_without_a_scorer_starts_nothing_if_the_default_policy_needs_one(lab_home: Path) -> None:
    ran = up(lab_home)
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1)
    assert ran.stderr.startswith(f"scaar: policy {DEFAULT}: {WITHOUT}")


def up(home: Path) -> subprocess.CompletedProcess[str]:
    """``scaar up`` that ends by itself."""
    command = [sys.executable, "-m", "scaar.cli", "up", "--base-port", str(free_base_port())]
    command += ["--gateway-port", "0", "--console-port", "0", "--records", "none"]
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(home)}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    ) as process:
        try:
            out, err = process.communicate(timeout=180)
        finally:
            process.send_signal(signal.SIGTERM)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.usefixtures("lab_scorer")
def test_an_allowed_scorer_marks_contributions_thresholds_and_decisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_ALLOW_SCORER_MISMATCH", "true")
    ran = run_scaar("ask", QUESTION, "--json")
    assert (ran.status, ran.err) == (0, "")
    started, *events = ran.records
    assert started["provenance"]["scorer_mismatch"].startswith(REFUSED)
    judged = [each for each in events if each["event"] == "sentence_judged"]
    assert judged
    assert all(each["scorer_mismatch"] for each in judged)
    shown = run_scaar("ask", QUESTION)
    assert f"mismatch: {REFUSED}"[:30] in shown.out
    assert "! mismatch" in shown.out
    flare = run_scaar("ask", QUESTION, "--policy", "flare", "--json").records
    assert flare[0]["provenance"]["scorer_mismatch"] == ""
    assert not any(each.get("scorer_mismatch") for each in flare)


def test_the_labs_model_refuses_a_scorer_of_another_kind(
    folders: Path, tail_questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_SCORER_MODEL", str(folders / "similar"))
    assert run_scaar("ask", tail_questions[0].question).status == 0, "an unknown kind fits"
    monkeypatch.setenv("SCAAR_SCORER_TEXT_KIND", "english")
    ran = run_scaar("ask", tail_questions[0].question)
    assert ran.status == 1
    assert "scorer similar is for texts of the kind english, and model lab-lm on" in ran.err
    assert "unset SCAAR_SCORER_ENGINE and SCAAR_SCORER_MODEL" in ran.err


def test_an_index_of_the_other_kind_is_refused(
    folders: Path, documents: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_scaar("ask", QUESTION, "--index", documents)
    assert (ran.status, "index handbook is of documents: set SCAAR_GEN" in ran.err) == (1, True)
    assert run_scaar("ask", QUESTION, "--index", documents, "--policy", "flare").status == 0
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", str(folders / "mine"))
    monkeypatch.setenv("SCAAR_SCORER_MODEL", str(folders / "similar"))
    monkeypatch.setenv("SCAAR_SCORER_TEXT_KIND", "english")
    ran = run_scaar("ask", QUESTION)
    assert (ran.status, "and index lab has texts of the kind lab: name an" in ran.err) == (1, True)
    assert run_scaar("ask", QUESTION, "--index", documents).status == 0


def test_a_declaration_does_not_hide_the_labs_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_SCORER_TEXT_KIND", "english")
    monkeypatch.setenv("SCAAR_SCORER_MODEL", str(model_folder(LAB_CROSS_ENCODER)))
    assert run_scaar("ask", QUESTION).status == 0


@pytest.mark.usefixtures("own_model")
def test_english_scores_a_model_that_is_not_the_labs(lab_home: Path, tmp_path: Path) -> None:
    package = tmp_path / "scaar_english"
    encoder = write_word_encoder(tmp_path / "words", ["who directed the film"])
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").write_text(
        f"import pathlib\n\ndef model_folder():\n    return pathlib.Path({str(encoder)!r})\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "scaar.cli", "doctor"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))},
    )
    assert "✓ defaults: lab, english\n" in ran.stdout
    assert "✓ scorer model: words on bi_encoder" in ran.stdout
    assert ran.returncode == 0, ran.stdout
