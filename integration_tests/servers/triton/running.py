"""The real Triton server, running on free ports of loopback for as long as a block lasts."""

import asyncio
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from set_up import TritonServer
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException

_READY_S = 60.0


@dataclass(frozen=True, slots=True)
class RunningTriton:
    """A server that serves the repository; ``kill`` ends it at once."""

    target: str
    process: subprocess.Popen[bytes]
    said: Path

    def kill(self) -> None:
        """Ends it without letting it finish anything."""
        self.process.kill()
        self.process.wait()


@asynccontextmanager
async def running_triton(
    server: TritonServer, repository: Path, *, port: int = 0, flags: Sequence[str] = ()
) -> AsyncIterator[RunningTriton]:
    """The server over the repository, ready; on ``port`` where one is given."""
    port = port or _free_port()
    command = [
        str(server.binary),
        f"--backend-directory={server.backends}",
        f"--model-repository={repository}",
        f"--grpc-address=127.0.0.1",
        f"--grpc-port={port}",
        "--allow-http=false",
        "--allow-metrics=false",
        "--pinned-memory-pool-byte-size=0",
        "--model-load-thread-count=2",
        *flags,
    ]
    with tempfile.NamedTemporaryFile(prefix="triton-", suffix=".log") as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=subprocess.STDOUT, env=server.environment
        )
        running = RunningTriton(f"127.0.0.1:{port}", process, Path(said.name))
        try:
            await _ready(running)
            yield running
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                running.kill()


async def _ready(running: RunningTriton) -> None:
    async with asyncio.timeout(_READY_S), InferenceServerClient(running.target) as client:
        while True:
            assert running.process.poll() is None, running.said.read_text()
            try:
                if await client.is_server_ready():
                    return
            except InferenceServerException:
                pass
            await asyncio.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
