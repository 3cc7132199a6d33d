"""``scaar up --processes``: processes that answer as one does, and stop together."""

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import openai
import pytest

from scaar.cli.serve.services import GRPC_SERVICES, ServiceName, default_address
from scaar.evaluator.planning.settings import default_policies
from scaar.lab.questions import Question
from scaar.runtime.addresses import check_free
from scaar.testing.commands import run_scaar

PROCESSES = "--processes"


def free_base_port() -> int:
    """The first of as many free ports in a row as there are services."""
    while True:
        base = random.randrange(20_000, 32_000)
        with ExitStack() as stack:
            try:
                for number in range(len(ServiceName)):
                    stack.enter_context(socket.create_server(("127.0.0.1", base + number)))
            except OSError:
                continue
            return base


def gateway_port(base_port: int) -> int:
    """The port after those of the other services."""
    return base_port + len(GRPC_SERVICES)


def console_port(base_port: int) -> int:
    """The port after that of the gateway."""
    return gateway_port(base_port) + 1


def stderr_of(process: subprocess.Popen[str]) -> str:
    """What it and its services still say; ends when none of them is left.

    A service can say that it serves just after its port has been found open.
    """
    assert process.stderr is not None
    return "".join(line for line in process.stderr if " serving on http" not in line)


@contextmanager
def running(
    base_port: int, home: Path, *options: str, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "scaar.cli", "up", *options, "--base-port", str(base_port)]
    command += ["--gateway-port", str(gateway_port(base_port))]
    command += ["--console-port", str(console_port(base_port))]
    with ExitStack() as stack:
        # One scaar up runs on a data folder.
        copy = Path(stack.enter_context(TemporaryDirectory())) / "home"
        copytree(home / "indexes", copy / "indexes")
        variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(copy)}
        process = stack.enter_context(
            subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                env={**os.environ, **variables, **environment},
            )
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            stderr_of(process)


def until_ready(process: subprocess.Popen[str]) -> str:
    """What is said until all services serve."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if line.startswith("Ask: "):
            return said
    raise AssertionError(f"it ended before it was ready: {said}")


def pid_of(process: subprocess.Popen[str], service: ServiceName) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for child in children:
        command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        if b"serve" in command and service.encode() in command:
            return int(child)
    raise AssertionError(f"{service} is not among the children {children}")


def assert_ports_free(base_port: int) -> None:
    for port in range(base_port, console_port(base_port) + 1):
        check_free(f"127.0.0.1:{port}")


@pytest.fixture(scope="module")
def target(lab_home: Path) -> Iterator[str]:
    """The orchestrator of a running ``scaar up``."""
    base_port = free_base_port()
    with running(base_port, lab_home, PROCESSES) as process:
        said = until_ready(process)
        address = default_address(ServiceName.ORCHESTRATOR, base_port)
        assert said.count("SERVING") == len(ServiceName)
        assert address in said
        yield f"dns:///{address}"


def lasting(value: Any) -> Any:
    """Events without what differs from one run to the next."""
    match value:
        case dict():
            passing = ("request_id", "generated_tokens", "evaluated_prompt_tokens")
            return {
                name: lasting(each)
                for name, each in value.items()
                if name not in passing and not name.endswith("_ms")
            }
        case list():
            return [lasting(each) for each in value]
    return value


def to_a_millionth(value: Any) -> Any:
    """Equal to what is the same but for a millionth in its numbers."""
    match value:
        case dict():
            return {name: to_a_millionth(each) for name, each in value.items()}
        case list():
            return [to_a_millionth(each) for each in value]
        case float():
            return pytest.approx(value, rel=0, abs=1e-6)
    return value


def kinds(value: Any) -> Any:
    """What kind of thing stands everywhere, so that 75 and 75.0 are not the same."""
    match value:
        case dict():
            return {name: kinds(each) for name, each in value.items()}
        case list():
            return [kinds(each) for each in value]
    return type(value)


@pytest.mark.parametrize("policy", default_policies())
def test_separate_processes_emit_the_same_events_as_one(
    target: str, tail_questions: list[Question], policy: str
) -> None:
    retrieved = False
    for question in tail_questions[:3]:
        requested = ("ask", question.question, "--policy", policy, "--json")
        embedded, remote = run_scaar(*requested), run_scaar(*requested, "--address", target)
        assert (embedded.status, embedded.err) == (0, "")
        assert (remote.status, remote.err) == (0, "")
        assert len(remote.records) > 5
        assert kinds(remote.records) == kinds(embedded.records)
        assert lasting(remote.records) == to_a_millionth(lasting(embedded.records))
        retrieved |= any(event["event"] == "passages_retrieved" for event in remote.records)
    assert retrieved is (policy != "no_retrieval")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (("--index", "nope"), 1),
        (("--index", "../x"), 2),
    ],
)
def test_errors_have_the_same_text_from_a_service(
    target: str, options: tuple[str, ...], status: int
) -> None:
    embedded, remote = (
        run_scaar("ask", "Who?", *options, "--address", where) for where in ("embedded", target)
    )
    assert embedded == remote
    assert (remote.status, remote.out) == (status, "")
    assert remote.err.count("\n") == 1


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGHUP, id="hang-up", marks=pytest.mark.long),
    ],
)
def test_a_signal_stops_all_services_and_frees_their_ports(
    number: signal.Signals, lab_home: Path
) -> None:
    base_port = free_base_port()
    with running(base_port, lab_home, PROCESSES) as process:
        until_ready(process)
        process.send_signal(number)
        assert stderr_of(process) == "stopped\n"
        assert process.wait() == 0
    assert_ports_free(base_port)


def test_the_services_of_a_killed_process_stop_and_free_their_ports(lab_home: Path) -> None:
    base_port = free_base_port()
    with running(base_port, lab_home, PROCESSES) as process:
        until_ready(process)
        process.kill()
        stderr_of(process)
    assert_ports_free(base_port)


@pytest.mark.long
def test_a_service_that_exits_stops_all_and_is_named(lab_home: Path) -> None:
    base_port = free_base_port()
    with running(base_port, lab_home, PROCESSES) as process:
        until_ready(process)
        os.kill(pid_of(process, ServiceName.SCORER), signal.SIGKILL)
        message = "scaar: scorer exited with status -9; all services are stopped"
        assert stderr_of(process).splitlines() == ["stopped", message]
        assert process.wait() == 1
    assert_ports_free(base_port)


def test_a_service_that_cannot_start_stops_all_and_is_named(lab_home: Path) -> None:
    base_port = free_base_port()
    with running(base_port, lab_home, PROCESSES, SCAAR_SCORER_MODEL="/no/where") as process:
        lines = stderr_of(process).splitlines()
        assert process.wait() == 1
    assert "scaar: the model folder /no/where does not exist" in lines
    address = default_address(ServiceName.SCORER, base_port)
    assert lines[-1] == f"scaar: scorer did not start on {address}; its error is above"
    assert_ports_free(base_port)


def test_a_port_in_use_is_reported_before_anything_is_started(lab_home: Path) -> None:
    base_port = free_base_port()
    address = default_address(ServiceName.RETRIEVER, base_port)
    host, _, port = address.partition(":")
    with (
        socket.create_server((host, int(port))),
        running(base_port, lab_home, PROCESSES) as process,
    ):
        text = f"scaar: address {address} is already in use; choose another with --base-port\n"
        assert stderr_of(process) == text
        assert process.wait() == 1


def test_a_port_of_the_gateway_in_use_is_reported_with_its_option(lab_home: Path) -> None:
    base_port = free_base_port()
    address = f"127.0.0.1:{gateway_port(base_port)}"
    with (
        socket.create_server(("127.0.0.1", gateway_port(base_port))),
        running(base_port, lab_home, PROCESSES) as process,
    ):
        text = f"scaar: address {address} is already in use; choose another with --gateway-port\n"
        assert stderr_of(process) == text
        assert process.wait() == 1


def test_the_gateway_answers_as_the_orchestrator_does(target: str) -> None:
    question = "When was the film The Velvet Statue released?"
    asked = run_scaar("ask", question, "--address", target, "--json")
    finished = asked.records[-1]
    url = f"http://127.0.0.1:{gateway_port(int(target.rpartition(':')[2]))}/v1"
    with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
        found = client.chat.completions.create(
            model="scaar", messages=[{"role": "user", "content": question}]
        )
    assert found.choices[0].message.content == finished["text"].strip()
    assert (found.model_extra or {})["scaar"]["answer"] == finished["answer"]
