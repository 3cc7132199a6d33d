"""``scaar doctor``: its checks and advice follow the engines of the settings."""

from importlib.metadata import PackageNotFoundError

import pytest

from scaar.testing.commands import run_scaar

NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def _own_home(home: object) -> None:
    """Every check has a data folder of its own."""


@pytest.mark.parametrize("engine", ["tgi", "openai"])
def test_the_advice_for_a_model_server_is_of_the_server(
    monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", engine)
    monkeypatch.setenv("SCAAR_GENERATOR_URL", NOWHERE)
    monkeypatch.setenv("SCAAR_GENERATOR_PROMPT_PROFILE", "lab")
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert f"\n    Start the {engine} server, or correct SCAAR_GENERATOR_URL and its" in ran.out
    assert "Restore the file" not in ran.out


def test_the_advice_for_a_model_folder_is_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "/no/where")
    ran = run_scaar("doctor")
    assert "\n    Restore the file, set SCAAR_GENERATOR_MODEL to another" in ran.out


def test_packages_of_unused_engines_are_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("scaar.cli.serve.doctor.version", none)
    monkeypatch.setattr("scaar.cli.serve.doctor.SERVING_TIMEOUT_S", 0.1)
    monkeypatch.setattr("scaar.cli.serve.doctor.ALIVE_TIMEOUT_S", 0.1)
    found = run_scaar("doctor").out
    assert "✗ onnxruntime: is not installed\n    Install scaar[generator]," in found
    for service in ("GENERATOR", "SCORER", "RETRIEVER"):
        monkeypatch.setenv(f"SCAAR_ORCHESTRATOR_{service}_TARGET", "dns:///127.0.0.1:1")
    found = run_scaar("doctor").out
    assert "✗ grpcio: is not installed\n    Install scaar[serve]," in found
    assert "onnxruntime" not in found
    assert "bm25s" not in found


def test_a_misspelled_variable_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_INDEXS", "/no/where")
    ran = run_scaar("doctor")
    warning = "SCAAR_RETRIEVER_INDEXS is not a setting; did you mean SCAAR_RETRIEVER_INDEXES?"
    assert f"! environment: {warning}\n" in ran.out
    assert ran.status == 0
