"""A running ``scaar up``, and the environment of the clients."""

import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PORTS = 7


def _free_ports() -> int:
    """Return the first of as many free ports in a row as ``scaar up`` needs."""
    while True:
        base = random.randrange(20_000, 32_000)
        with ExitStack() as stack:
            try:
                for number in range(PORTS):
                    stack.enter_context(socket.create_server(("127.0.0.1", base + number)))
            except OSError:
                continue
            return base


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the gateway of a running ``scaar up``."""
    base = _free_ports()
    command = [sys.executable, "-m", "scaar.cli", "up", "--base-port", str(base)]
    command += ["--gateway-port", str(base + PORTS - 1)]
    home = tmp_path_factory.mktemp("scaar")
    environment = {**os.environ, "SCAAR_HOME": str(home), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith("OpenAI clients: "):
                    break
            else:
                raise AssertionError("scaar up ended before it was ready")
            yield f"localhost:{base + PORTS - 1}"
        finally:
            process.terminate()
            process.communicate()


@pytest.fixture(scope="session")
def orchestrator(gateway: str) -> str:
    """Return the target of the orchestrator behind the gateway."""
    return f"dns:///127.0.0.1:{int(gateway.rpartition(':')[2]) - PORTS + 1}"


@pytest.fixture(scope="session")
def python() -> str:
    """Return the interpreter with the clients' packages."""
    path = os.environ.get("SCAAR_CLIENTS_PYTHON") or str(ROOT / ".venv-clients/bin/python")
    assert Path(path).exists(), f"{path} does not exist: make integration-clients installs it"
    return path
