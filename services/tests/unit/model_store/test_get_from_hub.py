"""``scaar models get`` from a server that replaces the Hugging Face hub."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scaar.testing.hub_server import HubServer, serving

pytestmark = pytest.mark.slow

CONTENT = b"GGUF" + bytes(range(256)) * 4_000


@dataclass
class Machine:
    """A machine of a user: a data folder, a cache of the hub, and a hub."""

    folder: Path
    hub: HubServer

    def start(
        self, *arguments: str, stdin: int = subprocess.DEVNULL, **environment: str
    ) -> subprocess.Popen[str]:
        """Start ``scaar models`` with these arguments."""
        variables = {
            "PYTHONPATH": os.pathsep.join(sys.path),
            "SCAAR_HOME": str(self.folder / "home"),
            "HF_HOME": str(self.folder / "hf"),
            "HF_ENDPOINT": self.hub.url,
            **environment,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "scaar.cli", "models", *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, **variables},
        )

    def run(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        """Return status, output and errors of ``scaar models`` with these arguments."""
        process = self.start(*arguments, **environment)
        out, err = process.communicate()
        return process.returncode, out, err

    def get(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        """Get the file of the hub."""
        return self.run("get", self.hub.source, "--yes", *arguments, **environment)

    def blobs(self) -> list[str]:
        """The names of the contents in the hub's cache."""
        return sorted(path.name for path in self.folder.glob("hf/hub/models--*/blobs/*"))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with serving(HubServer(CONTENT)) as hub:
        yield Machine(tmp_path, hub)


def _path(out: str) -> Path:
    return Path(out.removeprefix("tiny: ").strip())


def test_a_file_stays_in_the_cache_of_the_hub_and_is_got_once(machine: Machine) -> None:
    status, out, err = machine.get(HF_TOKEN="hf_secret")
    assert (status, _path(out).read_bytes()) == (0, CONTENT)
    assert machine.folder / "hf" in _path(out).parents
    assert f"tiny: 1.0 MB, licence see {machine.hub.url}/maker/model, from " in err
    assert set(machine.hub.tokens) == {"Bearer hf_secret"}
    requests = len(machine.hub.tokens)
    assert machine.run("get", machine.hub.source)[:2] == (0, out)
    assert machine.get("--offline")[:2] == (0, out)
    assert machine.run("verify")[0] == 0
    assert len(machine.hub.tokens) == requests


def test_an_interrupted_download_is_resumed(machine: Machine) -> None:
    # The hub's library writes pieces of 10 MiB.
    machine.hub.content = CONTENT * 20
    machine.hub.break_after = 15_000_000
    status, out, err = machine.get()
    assert (status, out) == (1, "")
    assert "did not send tiny.gguf: IncompleteRead(" in err
    assert err.count("\n") == 2
    machine.hub.break_after = None
    status, out, _ = machine.get()
    assert (status, _path(out).read_bytes()) == (0, CONTENT * 20)
    assert machine.hub.ranges[-1] == f"bytes={10 * 2**20}-"


def test_a_killed_download_leaves_nothing_that_is_used(machine: Machine) -> None:
    machine.hub.paused.clear()
    process = machine.start("get", machine.hub.source, "--yes")
    machine.hub.half_sent.wait()
    process.kill()
    process.communicate()
    machine.hub.paused.set()
    assert machine.run("get", machine.hub.source, "--offline")[0] == 1
    status, out, _ = machine.get()
    assert (status, _path(out).read_bytes()) == (0, CONTENT)


def test_two_processes_download_a_file_once(machine: Machine) -> None:
    machine.hub.paused.clear()
    first = machine.start("get", machine.hub.source, "--yes")
    machine.hub.half_sent.wait()
    second = machine.start("get", machine.hub.source, "--yes")
    assert second.stderr is not None
    lines = iter(second.stderr.readline, "")
    assert any(line == "another process downloads tiny; waiting for it\n" for line in lines)
    machine.hub.paused.set()
    outputs = [process.communicate()[0] for process in (first, second)]
    assert outputs[0] == outputs[1]
    assert _path(outputs[0]).read_bytes() == CONTENT
    assert machine.hub.ranges.count(None) == len(machine.hub.ranges) == 1


def test_a_corrupt_download_is_set_aside(machine: Machine) -> None:
    machine.hub.sent = b"JUNK" + CONTENT[4:]
    status, out, err = machine.get()
    assert (status, out) == (1, "")
    assert "the file of tiny is not the one that was published: it is kept as " in err
    assert f".corrupt; run scaar models get {machine.hub.source} --name tiny\n" in err
    machine.hub.sent = None
    status, out, _ = machine.get()
    assert (status, _path(out).read_bytes()) == (0, CONTENT)


def test_verification_finds_a_file_that_changed(machine: Machine) -> None:
    path = _path(machine.get()[1])
    path.write_bytes(CONTENT[:-1] + b"?")
    status, out, err = machine.run("verify")
    assert (status, out) == (1, "")
    assert f"run scaar models get {machine.hub.source}" in err
    assert machine.run("get", machine.hub.source, "--offline")[0] == 1
    assert _path(machine.get()[1]).read_bytes() == CONTENT
    assert machine.run("verify", "tiny")[0] == 0


def test_removal_frees_the_disk(machine: Machine) -> None:
    path = _path(machine.get()[1])
    path.write_bytes(CONTENT[:-1] + b"?")
    machine.run("verify")
    machine.get()
    assert len(machine.blobs()) == 2
    status, out, _ = machine.run("remove", "tiny")
    assert (status, out) == (0, "tiny: removed, 2.0 MB freed\n")
    assert machine.blobs() == []
    status, _, err = machine.run("remove", "tiny")
    message = "scaar: the model tiny is not on this machine; those that are: none\n"
    assert (status, err) == (1, message)


def test_a_file_that_was_in_the_cache_is_not_downloaded_and_not_deleted(machine: Machine) -> None:
    machine.get()
    (machine.folder / "home/models/tiny.json").unlink()
    requests = len(machine.hub.tokens)
    status, out, _ = machine.run("get", machine.hub.source)
    assert (status, len(machine.hub.tokens)) == (0, requests)
    assert "was not downloaded by scaar and stays" in machine.run("remove", "tiny")[1]
    assert _path(out).read_bytes() == CONTENT


def test_a_gated_model_says_what_to_accept_and_to_set(machine: Machine) -> None:
    machine.hub.gated = True
    status, _, err = machine.get()
    assert status == 1
    assert err == (
        f"scaar: maker/model is gated: accept its terms at {machine.hub.url}/maker/model, and set "
        "HF_TOKEN to a token of the account that accepted them\n"
    )


def test_without_the_network_the_missing_model_is_named(machine: Machine) -> None:
    text = f"forbids its download: run scaar models get {machine.hub.source} --name tiny without it"
    status, _, err = machine.get("--offline")
    assert status == 1
    assert f"the model tiny is not on this machine, and --offline {text}" in err
    status, _, err = machine.get(HF_HUB_OFFLINE="1")
    assert status == 1
    assert f"the model tiny is not on this machine, and HF_HUB_OFFLINE {text}" in err
    assert machine.hub.tokens == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("hf:maker/other/tiny.gguf", "the hub has no repository maker/other, or it is private"),
        ("hf:maker/model/other.gguf", "maker/model has no file other.gguf"),
    ],
)
def test_what_the_hub_does_not_have_is_named(machine: Machine, source: str, message: str) -> None:
    status, _, err = machine.run("get", source, "--yes")
    assert status == 1
    assert err.startswith(f"scaar: {message}")


def test_a_hub_that_does_not_answer_is_named(machine: Machine) -> None:
    status, _, err = machine.get(HF_ENDPOINT="http://127.0.0.1:9")
    assert status == 1
    text = "http://127.0.0.1:9/maker/model did not send tiny.gguf: [Errno 111] Connection refused"
    assert err == f"scaar: {text}; run the command again, or set HF_ENDPOINT to a mirror\n"


def test_nothing_is_downloaded_without_a_terminal_or_a_yes(machine: Machine) -> None:
    status, _, err = machine.run("get", machine.hub.source)
    assert status == 2
    assert err.startswith("scaar: --yes: is required without a terminal, to download tiny: 1.0 MB")
    assert machine.blobs() == []


@pytest.mark.parametrize(("answer", "status"), [(b"n\n", 130), (b"y\n", 0)])
def test_a_terminal_is_asked(machine: Machine, answer: bytes, status: int) -> None:
    terminal, stdin = pty.openpty()
    try:
        os.write(terminal, answer)
        process = machine.start("get", machine.hub.source, stdin=stdin)
        _, err = process.communicate()
    finally:
        os.close(terminal)
        os.close(stdin)
    assert process.returncode == status
    assert "Download it? [y/N]:" in err
    assert len(machine.blobs()) == (status == 0)
