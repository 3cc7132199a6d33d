from pathlib import Path

import pytest

from scaar.cli.environment import settings_in_environment
from scaar.cli.models.choice import choose_model
from scaar.compose import build_model_store
from scaar.core.errors import InvalidRequest, NotFound
from scaar.generator.settings import GeneratorSettings
from scaar.model_store.catalogue import DEFAULT_MODEL
from scaar.model_store.installed import InstalledModel
from scaar.testing.commands import run_scaar
from scaar.testing.ports import free_port

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that begins like a model."""
    path = tmp_path / "My Model.gguf"
    path.write_bytes(b"GGUF and more")
    return path


def store(name: str, file: Path) -> None:
    """Record a model as if it had been downloaded."""
    size = file.stat().st_size
    build_model_store().add(
        InstalledModel(name, str(file), "test", size, sha256="0" * 64, published=True, owned=False)
    )


def llama_cpp(model: str) -> dict[str, str]:
    return {"SCAAR_GENERATOR_ENGINE": "llama_cpp", "SCAAR_GENERATOR_MODEL": model}


def test_a_named_model_is_of_the_catalogue_of_this_machine_or_a_file(file: Path) -> None:
    named = choose_model("smollm2-135m")
    assert named.settings == llama_cpp("smollm2-135m")
    assert named.wanted is not None
    store("smollm2-135m", file)
    assert choose_model("smollm2-135m").wanted is None
    store("mine", file)
    assert choose_model("mine").settings == llama_cpp("mine")
    given = choose_model(str(file))
    assert (given.settings, given.wanted) == (llama_cpp(str(file)), None)
    hub = choose_model("hf:maker/model/Tiny.gguf")
    assert hub.settings == llama_cpp("tiny")


def test_a_model_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("text")
    with pytest.raises(NotFound, match="there is no model 'none'; the catalogue has smollm2-135m"):
        choose_model("none")
    with pytest.raises(NotFound, match="absent.gguf is not a file"):
        choose_model(str(tmp_path / "absent.gguf"))
    with pytest.raises(InvalidRequest, match="is not a GGUF file"):
        choose_model(str(tmp_path / "text.gguf"))


def test_without_a_name_the_default_answers_even_if_another_model_is_here(file: Path) -> None:
    store("smollm2-135m", file)
    choice = choose_model(None)
    assert choice.settings == llama_cpp(DEFAULT_MODEL)
    with pytest.raises(NotFound) as caught:
        choice.ensure(yes=False, offline=False)
    message = caught.value.message
    assert message.startswith(f"the model {DEFAULT_MODEL}: 1.1 GB, licence Apache-2.0, from hf:")
    assert f"run scaar models get {DEFAULT_MODEL}, or repeat the command with --yes" in message
    assert message.endswith("with --model: smollm2-135m")


def test_offline_nothing_is_downloaded_even_with_consent() -> None:
    with pytest.raises(NotFound, match=f"run scaar models get {DEFAULT_MODEL}"):
        choose_model(None).ensure(yes=True, offline=True)


def test_the_settings_decide_and_a_name_beside_them_is_refused(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "llama_cpp")
    assert choose_model(None).settings == llama_cpp(DEFAULT_MODEL)
    assert choose_model("smollm2-135m").settings == llama_cpp("smollm2-135m")
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", str(file))
    choice = choose_model(None)
    assert (choice.settings, choice.wanted) == ({}, None)
    assert choice.label == f"{file} (engine llama_cpp)"
    conflict = "--model: is set by SCAAR_GENERATOR_ENGINE and SCAAR_GENERATOR_MODEL too"
    with pytest.raises(InvalidRequest, match=conflict):
        choose_model("smollm2-135m")
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "smollm2-135m")
    assert choose_model(None).wanted is not None
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_GENERATOR_TARGET", "dns:///127.0.0.1:9")
    assert choose_model(None).settings == {}


SIZES = {
    "THREADS": "2",
    "SLOTS": "2",
    "MAX_TOTAL_TOKENS": "2048",
    "PREFIX_REUSE": "none",
    "MAX_THINKING_TOKENS": "16",
    "PROMPT_PROFILE": "instruct",
    "OPENAI_API": "chat",
    "MODEL_KIND": "instruct",
}
"""Settings that size or tune the engine ``llama_cpp``."""


@pytest.mark.parametrize("name", SIZES)
def test_settings_that_size_the_engine_apply_to_the_chosen_model(
    name: str, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setenv(f"SCAAR_GENERATOR_{name}", SIZES[name])
    assert choose_model(None).settings == llama_cpp(DEFAULT_MODEL)
    choice = choose_model(str(file))
    assert choice.settings == llama_cpp(str(file))
    with settings_in_environment(choice.settings):
        assert str(getattr(GeneratorSettings.read(), name.lower())) == SIZES[name]


def test_settings_of_another_engine_are_refused_before_a_download(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_DIALECT", "vllm")
    problem = "SCAAR_GENERATOR_DIALECT: requires engine openai, but the engine is llama_cpp"
    with pytest.raises(InvalidRequest, match=problem):
        choose_model(None)
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", str(file))
    with pytest.raises(InvalidRequest, match="but the engine is onnx"):
        choose_model(None)


@pytest.mark.parametrize("command", ["ask", "up"])
@pytest.mark.parametrize("in_file", [False, True])
def test_commands_take_settings_that_size_the_engine_beside_a_model(
    command: str, in_file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DEFAULT_POLICY", "single_round")
    documents = tmp_path / "documents"
    documents.mkdir()
    options: tuple[str, ...] = ()
    if in_file:
        (tmp_path / "scaar.yaml").write_text("generator: {slots: 2}\n")
        options = ("--config", str(tmp_path / "scaar.yaml"))
    else:
        monkeypatch.setenv("SCAAR_GENERATOR_SLOTS", "2")
    of_documents = ("--documents", str(documents), "--model", "smollm2-135m", "--offline")
    ports = ("--base-port", str(free_port()), "--gateway-port", "0", "--console-port", "0")
    ran = run_scaar(
        *options, command, *(ports if command == "up" else ("What is Etna?",)), *of_documents
    )
    assert ran.err.startswith("scaar: the model smollm2-135m")
    assert "--offline forbids its download" in ran.err


def test_ask_without_a_model_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Etna is a volcano.")
    options = ("--documents", str(tmp_path), "--policy", "single_round")
    ran = run_scaar("ask", "What is Etna?", *options)
    assert (ran.status, ran.out) == (1, "")
    assert f"run scaar models get {DEFAULT_MODEL}" in ran.err
    assert ran.err.count("\n") == 1


def test_options_of_documents_are_checked_before_anything_else(tmp_path: Path) -> None:
    for options, problem in (
        (("--documents", str(tmp_path / "none")), "--documents: "),
        (("--documents", str(tmp_path), "--address", "localhost:1"), "--documents: cannot be"),
        (("--model", "mine", "--address", "localhost:1"), "--model: cannot be combined"),
        (("--yes",), "--yes: requires --documents or --model"),
        (("--offline",), "--offline: requires --documents or --model"),
    ):
        ran = run_scaar("ask", "What is Etna?", *options)
        assert ran.status == 2
        assert problem in ran.err
