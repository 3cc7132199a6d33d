"""The real Triton server, running on a free port of loopback for as long as a block lasts."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import grpc
from tritonclient.grpc import InferenceServerClient
from tritonclient.utils import InferenceServerException

from scaar.testing.ports import free_port

from .triton_server import TritonServer

PATIENCE_S = 60.0
"""How long a test waits for what must come."""

_START_S = 300.0
_END_S = 3.0


@dataclass(frozen=True, slots=True)
class RunningTriton:
    """A server that serves a repository."""

    port: int
    metrics_port: int
    process: subprocess.Popen[bytes]
    said: Path

    @property
    def target(self) -> str:
        """Where it takes gRPC."""
        return f"127.0.0.1:{self.port}"

    def kill(self) -> None:
        """Kill the server and the processes of its models."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(frozen=True, slots=True)
class TritonTls:
    """Files in PEM of a server that takes gRPC by TLS.

    ``clients_of`` is the CA that its clients' certificates must be of; ``client_cert`` and
    ``client_key`` are one, for the look whether it is ready.
    """

    cert: Path
    key: Path
    ca: Path
    clients_of: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None

    @property
    def options(self) -> list[str]:
        """What the server is started with."""
        options = [f"--grpc-server-cert={self.cert}", f"--grpc-server-key={self.key}"]
        if self.clients_of is None:
            return ["--grpc-use-ssl=true", *options]
        return ["--grpc-use-ssl-mutual=true", *options, f"--grpc-root-cert={self.clients_of}"]


@contextmanager
def running_triton(
    server: TritonServer, repository: Path, *, port: int = 0, tls: TritonTls | None = None
) -> Iterator[RunningTriton]:
    """The server over the repository, its models ready; on ``port`` where one is given."""
    port, metrics_port = port or free_port(), free_port()
    shared = f"scaar-triton-{port}-"
    command = [
        str(server.binary),
        f"--backend-directory={server.backends}",
        f"--model-repository={repository}",
        "--grpc-address=127.0.0.1",
        f"--grpc-port={port}",
        "--allow-http=false",
        "--metrics-address=127.0.0.1",
        f"--metrics-port={metrics_port}",
        "--metrics-interval-ms=60000",
        "--pinned-memory-pool-byte-size=0",
        "--model-load-thread-count=2",
        f"--backend-config=python,shm-region-prefix-name={shared}",
        *(tls.options if tls else ()),
    ]
    with tempfile.NamedTemporaryFile(prefix="triton-", suffix=".log") as said:
        process = subprocess.Popen(
            command,
            stdout=said,
            stderr=subprocess.STDOUT,
            env=server.environment,
            # A group of its own, with the processes of its models.
            start_new_session=True,
        )
        running = RunningTriton(port, metrics_port, process, Path(said.name))
        try:
            _wait_until_ready(running, tls)
            yield running
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_END_S)
            running.kill()
            # What a killed server leaves of the memory that it shared with its models.
            for each in Path("/dev/shm").glob(f"{shared}*"):
                each.unlink()


def _wait_until_ready(running: RunningTriton, tls: TritonTls | None) -> None:
    until = time.monotonic() + _START_S
    with InferenceServerClient(running.target, creds=_credentials(tls)) as client:
        while time.monotonic() < until:
            if running.process.poll() is not None:
                break
            try:
                if client.is_server_ready():
                    return
            except InferenceServerException:
                pass
            time.sleep(0.1)
    raise AssertionError(f"Triton is not ready: {running.said.read_text()}")


def _credentials(tls: TritonTls | None) -> grpc.ChannelCredentials | None:
    if tls is None:
        return None
    return grpc.ssl_channel_credentials(
        root_certificates=tls.ca.read_bytes(),
        private_key=tls.client_key.read_bytes() if tls.client_key else None,
        certificate_chain=tls.client_cert.read_bytes() if tls.client_cert else None,
    )
