"""A running ``scaar up --processes``: every service of the lab on free ports."""

import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from scaar.cli.serve.services import GRPC_SERVICES, ServiceName, default_address

_PORTS = len(ServiceName)
_READY = "OpenAI clients: "


@dataclass(frozen=True, slots=True)
class LabInstallation:
    """The ports of a running installation on loopback."""

    orchestrator_port: int
    gateway_port: int
    console_port: int

    @property
    def target(self) -> str:
        """Target of the orchestrator."""
        return f"dns:///127.0.0.1:{self.orchestrator_port}"

    @property
    def gateway_url(self) -> str:
        """URL of the gateway."""
        return f"http://127.0.0.1:{self.gateway_port}"

    @property
    def console_url(self) -> str:
        """URL of the console."""
        return f"http://127.0.0.1:{self.console_port}"

    def target_of(self, service: ServiceName) -> str:
        """Return the target of a service of gRPC."""
        return f"dns:///{default_address(service, self.orchestrator_port)}"


@contextmanager
def running_lab(home: Path, **environment: str) -> Iterator[LabInstallation]:
    """Run ``scaar up --processes`` with the data folder and variables until the block ends."""
    base = _free_ports()
    gateway = base + len(GRPC_SERVICES)
    lab = LabInstallation(base, gateway, gateway + 1)
    command = [sys.executable, "-m", "scaar.cli", "up", "--processes", "--base-port", str(base)]
    command += ["--gateway-port", str(lab.gateway_port)]
    command += ["--console-port", str(lab.console_port)]
    variables = {**os.environ, "SCAAR_HOME": str(home), "OMP_NUM_THREADS": "1", **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables) as process:
        assert process.stderr is not None
        try:
            lines = []
            for line in process.stderr:
                lines.append(line)
                if line.startswith(_READY):
                    break
            else:
                raise AssertionError(f"scaar up ended before it was ready: {''.join(lines)}")
            yield lab
        finally:
            process.terminate()
            process.communicate()


def _free_ports() -> int:
    """Return the first of as many free ports in a row as ``scaar up`` needs."""
    while True:
        base = random.randrange(20_000, 32_000)
        with ExitStack() as stack:
            try:
                for number in range(_PORTS):
                    stack.enter_context(socket.create_server(("127.0.0.1", base + number)))
            except OSError:
                continue
            return base
