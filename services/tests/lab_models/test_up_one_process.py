"""``scaar up`` in one process: the answers of every door, and what a killed process leaves."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from urllib.parse import quote

import openai
import pytest

from scaar.cli.serve.services import ServiceName
from scaar.client import open_sync_evaluation_client
from scaar.runtime.addresses import check_free
from scaar.testing.commands import run_scaar

from .test_up import stderr_of, until_ready

QUESTION = "When was the film The Velvet Statue released?"


@dataclass(frozen=True, slots=True)
class OneProcess:
    """A running ``scaar up``: its process, its three ports, and what it said at its start."""

    process: subprocess.Popen[str]
    ports: tuple[int, int, int]
    said: str

    @property
    def orchestrator(self) -> str:
        """Address of the orchestrator."""
        return f"127.0.0.1:{self.ports[0]}"

    def url(self, service: ServiceName) -> str:
        """URL of the gateway or the console."""
        port = self.ports[1] if service is ServiceName.GATEWAY else self.ports[2]
        return f"http://127.0.0.1:{port}"


@contextmanager
def running(home: Path, *options: str, **environment: str) -> Iterator[OneProcess]:
    """Run ``scaar up`` on free ports until the end of the block."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        one, two, three = (each.getsockname()[1] for each in sockets)
    command = [sys.executable, "-m", "scaar.cli", "up", "--base-port", str(one)]
    command += ["--gateway-port", str(two), "--console-port", str(three), *options]
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(home), **environment}
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **variables},
    ) as process:
        try:
            yield OneProcess(process, (one, two, three), until_ready(process))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            stderr_of(process)


@pytest.fixture(scope="module")
def home(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of this module, with the lab's index."""
    folder = tmp_path_factory.mktemp("home")
    copytree(lab_home / "indexes", folder / "indexes")
    return folder


@pytest.fixture(scope="module")
def up(home: Path) -> Iterator[OneProcess]:
    """A running ``scaar up`` of the lab."""
    with running(home) as one_process:
        yield one_process


def listening_ports(pid: int) -> set[int]:
    """Return the TCP ports that a process listens on."""
    links = (str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir())
    sockets = {link[8:-1] for link in links if link.startswith("socket:[")}
    rows = [
        row.split()
        for name in ("tcp", "tcp6")
        for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {
        int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and row[9] in sockets
    }


def page_of(up: OneProcess, path: str) -> str:
    """Return a page of the console."""
    with urllib.request.urlopen(f"{up.url(ServiceName.CONSOLE)}{path}") as response:
        return str(response.read().decode())


def test_one_process_listens_on_three_ports_and_names_what_it_runs(up: OneProcess) -> None:
    assert listening_ports(up.process.pid) == set(up.ports)
    assert up.said.count("SERVING") == 3
    assert "In the same process: generator, scorer, query-builder, retriever, " in up.said
    assert "Records: questions and answers are kept with their texts" in up.said
    children = Path(f"/proc/{up.process.pid}/task/{up.process.pid}/children").read_text()
    assert children == ""


def test_every_door_gives_the_answer_of_the_embedded_orchestrator(up: OneProcess) -> None:
    embedded, remote = (
        run_scaar("ask", QUESTION, "--address", address, "--json")
        for address in ("embedded", up.orchestrator)
    )
    assert (remote.status, remote.err) == (0, "")
    finished = remote.records[-1]
    assert finished["answer"] == embedded.records[-1]["answer"]
    url = f"{up.url(ServiceName.GATEWAY)}/v1"
    with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
        completion = client.chat.completions.create(
            model="scaar", messages=[{"role": "user", "content": QUESTION}]
        )
    assert completion.choices[0].message.content == finished["text"].strip()
    # The record of an answer is written soon after it.
    while QUESTION not in page_of(up, "/answers"):
        pass
    assert QUESTION in page_of(up, "/?question=" + quote(QUESTION))


def test_records_and_evaluations_share_the_port_of_the_orchestrator(up: OneProcess) -> None:
    run_scaar("ask", QUESTION, "--address", up.orchestrator)
    while QUESTION not in run_scaar("records", "list", "--address", up.orchestrator).out:
        pass
    with open_sync_evaluation_client(f"dns:///{up.orchestrator}") as client:
        assert client.list_evaluations().evaluations == ()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_process_frees_its_ports_and_keeps_the_records(
    number: signal.Signals, lab_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copytree(lab_home / "indexes", tmp_path / "indexes")
    with running(tmp_path) as up:
        assert run_scaar("ask", QUESTION, "--address", up.orchestrator).status == 0
        while QUESTION not in run_scaar("records", "list", "--address", up.orchestrator).out:
            pass
        up.process.send_signal(number)
        said = stderr_of(up.process)
        assert up.process.wait() == (0 if number is signal.SIGINT else -number)
        assert said == ("stopped\n" if number is signal.SIGINT else "")
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    assert QUESTION in run_scaar("records", "list", "--address", "embedded").out
    assert run_scaar("ask", QUESTION).err == ""
    for port in up.ports:
        check_free(f"127.0.0.1:{port}")


def test_other_commands_of_the_data_folder_use_it(
    up: OneProcess, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(home))
    using = f"using scaar up at {up.orchestrator} (--address embedded: this process alone)\n"
    asked = run_scaar("ask", QUESTION)
    assert (asked.status, asked.err) == (0, using)
    while QUESTION not in run_scaar("records", "list").out:
        pass
    assert run_scaar("ask", QUESTION, "--address", "embedded").err == ""
    monkeypatch.setenv("SCAAR_GENERATOR_THREADS", "3")
    asked = run_scaar("ask", QUESTION)
    not_used = f"scaar up at {up.orchestrator} is not used: it has another SCAAR_GENERATOR_THREADS"
    assert (asked.status, asked.err) == (0, f"{not_used}\n")


def test_a_second_one_of_the_data_folder_is_refused(
    up: OneProcess, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(home))
    ran = run_scaar("up")
    place = f"as process {up.process.pid}, with the orchestrator at {up.orchestrator}"
    assert (ran.status, ran.out) == (1, "")
    assert f"scaar: scaar up is running on {home} already, {place}; stop it" in ran.err


def test_a_model_that_cannot_be_opened_is_reported_and_stops_the_start(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="the model folder /no/where does not exist"),
        running(tmp_path, SCAAR_SCORER_MODEL="/no/where"),
    ):
        pass
