"""The run file of ``scaar up``, by which other commands of the data folder find it."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scaar.cli.running_services import choose_orchestrator, running_target
from scaar.cli.running_up import RunFile, find_running_up, run_file
from scaar.cli.serve.services import ServiceName
from scaar.core.errors import AlreadyExists, InvalidRequest

ADDRESSES = {
    ServiceName.ORCHESTRATOR: "127.0.0.1:1",
    ServiceName.RECORDS: "127.0.0.1:2",
}


@contextmanager
def announced(*, is_open: bool = True) -> Iterator[RunFile]:
    """Hold the run file of a ``scaar up`` that is still starting during the block."""
    with run_file() as file:
        file.announce(ADDRESSES, is_open=is_open)
        yield file


@pytest.fixture(autouse=True)
def _in_home(home: Path) -> None:
    """Each test has a data folder of its own."""


@pytest.fixture
def running() -> Iterator[None]:
    """A ``scaar up`` that is ready."""
    with announced() as file:
        file.announce_ready()
        yield


@pytest.mark.usefixtures("running")
def test_commands_use_the_services_of_the_one_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_orchestrator() == "dns:///127.0.0.1:1"
    assert capsys.readouterr().err.startswith("using scaar up at 127.0.0.1:1 (")
    assert running_target(ServiceName.RECORDS) == "dns:///127.0.0.1:2"
    assert running_target(ServiceName.EVALUATOR) == "dns:///127.0.0.1:50056"


def test_none_is_found_before_and_after_it_runs(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find_running_up() is None
    with announced():
        found = find_running_up()
        assert found is not None
        assert found.pid == os.getpid()
    assert find_running_up() is None
    assert choose_orchestrator() == "embedded"
    assert capsys.readouterr().err == ""
    assert [path.name for path in home.iterdir()] == ["up.lock"]


def test_the_file_of_a_killed_one_is_ignored_and_replaced(home: Path) -> None:
    with announced() as file:
        file.announce_ready()
        left = (home / "up.json").read_text()
    (home / "up.json").write_text(left)
    assert find_running_up() is None
    with announced() as file:
        found = find_running_up()
        assert found is not None
        assert not found.is_ready


def test_one_that_identifies_its_callers_is_not_used_and_not_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with announced(is_open=False):
        assert choose_orchestrator() == "embedded"
        note = f"scaar up, process {os.getpid()}, asks for an identity: not used\n"
        assert capsys.readouterr().err == note
        assert running_target(ServiceName.RECORDS) == "dns:///127.0.0.1:50057"


def test_a_second_one_is_refused_with_the_place_of_the_first() -> None:
    place = f"as process {os.getpid()}, with the orchestrator at 127.0.0.1:1"
    with announced(), pytest.raises(AlreadyExists, match=place), run_file():
        pass


def test_an_unreadable_file_is_that_of_another_version(home: Path) -> None:
    with announced():
        (home / "up.json").write_text('{"pid": 1}')
        assert find_running_up() is None


def test_one_with_another_model_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "llama_cpp")
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "one.gguf")
    with announced() as file:
        file.announce_ready()
        assert choose_orchestrator() == "dns:///127.0.0.1:1"
        monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "other.gguf")
        capsys.readouterr()
        assert choose_orchestrator() == "embedded"
        assert "it has another SCAAR_GENERATOR_MODEL" in capsys.readouterr().err
        monkeypatch.delenv("SCAAR_GENERATOR_MODEL")
        monkeypatch.delenv("SCAAR_GENERATOR_ENGINE")
        # What is not set here is that of the running one; its server is no part of an answer.
        monkeypatch.setenv("SCAAR_ORCHESTRATOR_ADDRESS", "127.0.0.1:9")
        assert choose_orchestrator() == "dns:///127.0.0.1:1"


def test_settings_of_the_engine_of_the_running_one_are_compared_with_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "llama_cpp")
    monkeypatch.setenv("SCAAR_GENERATOR_SLOTS", "2")
    with announced() as file:
        file.announce_ready()
        monkeypatch.delenv("SCAAR_GENERATOR_ENGINE")
        assert choose_orchestrator() == "dns:///127.0.0.1:1"
        monkeypatch.setenv("SCAAR_GENERATOR_SLOTS", "3")
        assert choose_orchestrator() == "embedded"
        assert "it has another SCAAR_GENERATOR_SLOTS" in capsys.readouterr().err


def test_paths_are_compared_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.gguf").touch()
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "llama_cpp")
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", str(tmp_path / "model.gguf"))
    with announced() as file:
        file.announce_ready()
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "model.gguf")
        assert choose_orchestrator() == "dns:///127.0.0.1:1"


def test_the_file_is_readable_by_its_owner_only_and_has_no_secret(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "openai")
    monkeypatch.setenv("SCAAR_GENERATOR_URL", "http://127.0.0.1:8000")
    monkeypatch.setenv("SCAAR_GENERATOR_API_KEY", "a-secret")
    with announced():
        file = home / "up.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "a-secret" not in file.read_text()


def test_a_data_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "file"))
    with pytest.raises(InvalidRequest, match="SCAAR_HOME: .* cannot be written"), run_file():
        pass
