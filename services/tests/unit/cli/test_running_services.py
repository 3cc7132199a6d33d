"""Commands that find a ``scaar up`` which is still starting."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from scaar.cli.running_services import choose_orchestrator, running_target
from scaar.cli.running_up import RunFile, run_file
from scaar.cli.serve.services import ServiceName
from scaar.testing.commands import HEEDING_CTRL_C, run_scaar

ADDRESSES = {
    ServiceName.ORCHESTRATOR: "127.0.0.1:1",
    ServiceName.RECORDS: "127.0.0.1:2",
}
HOLD_RUN_FILE = """
import time
from scaar.cli.running_up import run_file
with run_file() as file:
    file.announce({"orchestrator": "127.0.0.1:1"}, is_open=True)
    print("held", flush=True)
    time.sleep(600)
"""
"""Holds the run file of a ``scaar up`` that never becomes ready."""
WAITING = f"waiting for scaar up, process {os.getpid()}, which is still starting"
ALONE = "(--address embedded: this process alone)"
ENDED = f"scaar up, process {os.getpid()}, has ended before it was ready\n"

Start = Callable[[Callable[[], str]], Future[str]]


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
def start() -> Iterator[Start]:
    """Runs a choice of a target in another thread."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool.submit


def until_note(capsys: pytest.CaptureFixture[str]) -> str:
    """Wait for the next line on standard error, and return it."""
    said = ""
    while not said.endswith("\n"):
        said += capsys.readouterr().err
    return said


def test_a_question_waits_for_one_that_is_starting(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    with announced() as file:
        chosen = start(choose_orchestrator)
        assert until_note(capsys) == f"{WAITING} {ALONE}\n"
        assert not chosen.done()
        file.announce_ready()
        assert chosen.result() == "dns:///127.0.0.1:1"
        assert capsys.readouterr().err == f"using scaar up at 127.0.0.1:1 {ALONE}\n"


def test_a_question_waits_for_the_announcement_of_one_that_has_just_started(start: Start) -> None:
    with run_file() as file:
        chosen = start(choose_orchestrator)
        file.announce(ADDRESSES, is_open=True)
        file.announce_ready()
        assert chosen.result() == "dns:///127.0.0.1:1"
    with run_file():
        chosen = start(choose_orchestrator)
    assert chosen.result() == "embedded"


def test_a_question_is_answered_alone_if_the_one_that_is_starting_ends(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    with announced():
        chosen = start(choose_orchestrator)
        until_note(capsys)
    assert chosen.result() == "embedded"
    assert capsys.readouterr().err == ENDED


def test_records_wait_for_one_that_is_starting_and_will_have_them(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    with announced() as file:
        assert running_target(ServiceName.EVALUATOR) == "dns:///127.0.0.1:50056"
        found = start(lambda: running_target(ServiceName.RECORDS))
        assert until_note(capsys) == f"{WAITING}\n"
        file.announce_ready()
        assert found.result() == "dns:///127.0.0.1:2"
    with announced():
        found = start(lambda: running_target(ServiceName.RECORDS))
        until_note(capsys)
    assert found.result() == "dns:///127.0.0.1:50057"
    assert capsys.readouterr().err == ENDED


def test_one_with_another_model_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with announced():
        monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "other")
        assert choose_orchestrator() == "embedded"
        assert "it has another SCAAR_GENERATOR_MODEL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "question: is missing"),
        (("Who?", "--out", "answers.jsonl"), "--out: requires --file"),
        (("Who?", "--set", "theta=2", "--policy", "scaar"), "theta"),
        (("\x00",), "question: holds the control character"),
    ],
)
def test_an_invalid_question_is_rejected_without_a_wait(
    options: tuple[str, ...], problem: str
) -> None:
    with announced():
        ran = run_scaar("ask", *options)
    assert ran.status == 2
    assert problem in ran.err
    assert "waiting" not in ran.err


def test_completion_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SCAAR_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "scaar records list --pol")
    monkeypatch.setenv("COMP_CWORD", "3")
    with announced():
        assert run_scaar().out.split() == ["--policy"]


@pytest.mark.slow
def test_ctrl_c_ends_the_wait_quietly() -> None:
    with announced(), asking("Who?") as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"{WAITING} {ALONE}\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate() == ("", "")
        assert process.returncode == 130


@pytest.mark.slow
def test_the_end_of_a_killed_one_ends_the_wait() -> None:
    holding = [sys.executable, "-c", HOLD_RUN_FILE]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        holding, stdout=subprocess.PIPE, encoding="utf-8", env=variables
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with asking("Who?", "--index", "none") as process:
            assert process.stderr is not None
            assert f"process {holder.pid}, which is still starting" in process.stderr.readline()
            holder.kill()
            said = process.stderr.readline()
            assert said == f"scaar up, process {holder.pid}, has ended before it was ready\n"
            assert "none" in process.stderr.read()


def asking(*arguments: str) -> subprocess.Popen[str]:
    """Start ``scaar ask`` as a process that Ctrl-C ends."""
    command = [sys.executable, "-m", "scaar.cli", "ask", *arguments]
    return subprocess.Popen(
        [sys.executable, "-c", HEEDING_CTRL_C, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
