"""A server's process on loopback: started until it answers, ended by its id."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

NOBODY = 65534
_START_S = 300
_END_S = 60
_ENDED = ("X", "Z")


@contextmanager
def server_folder(home: Path) -> Iterator[Path]:
    """A folder for what a server keeps, under the cache of ``home``; it goes with the block."""
    servers = home / ".cache" / "servers"
    servers.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=servers))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def other_than_root(folder: Path) -> int | None:
    """The user of a server that refuses to run as root and keeps its files in the folder.

    That is nobody for root, and None, who runs the tests, for anyone else.

    Raises:
        PermissionError: nobody cannot enter a folder on the way to it, which is named.
    """
    if os.geteuid():
        return None
    for each in reversed(folder.resolve().parents):
        found = each.stat()
        if found.st_uid != NOBODY and not found.st_mode & stat.S_IXOTH:
            text = f"a server of root's runs as nobody, who cannot enter {each}: chmod o+x {each}"
            raise PermissionError(text)
    return NOBODY


class ServerProcess:
    """A process that says what it says into ``log``; one that was ended can be started again."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The id of the process that runs."""
        assert self._process
        return self._process.pid

    def start(
        self,
        command: Sequence[str],
        *,
        answers: Callable[[], bool],
        as_nobody: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts the command and returns once it answers.

        Raises:
            RuntimeError: it ended, or does not answer in time.
            PermissionError: it is to run as nobody, who cannot reach its log.
        """
        user = other_than_root(self._log) if as_nobody else None
        self._process = self._run(command, user, environment or {})
        until = time.monotonic() + _START_S
        while self._process.poll() is None and time.monotonic() < until:
            if answers():
                return
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"{Path(command[0]).name} did not come up: {self._log.read_text()}")

    def kill(self) -> None:
        """Ends it as a loss of power would."""
        self._end(signal.SIGKILL)

    def kill_with_children(self) -> None:
        """Ends it and the processes that it began; none is left when this returns."""
        if self._process is None or self._process.poll() is not None:
            return
        # Stopped, it begins no more of them.
        self.pause()
        began = self.children()
        self.kill()
        for pid in began:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while not all(has_ended(pid) for pid in began):
            time.sleep(0.01)

    def children(self) -> list[int]:
        """The ids of the processes that it began."""
        return [pid for pid in _running() if _state_and_parent(pid)[1] == self.pid]

    def wait(self) -> int:
        """Its status, when it has ended by itself."""
        assert self._process
        return self._process.wait(timeout=_START_S)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends it in order."""
        self._end(number)

    def pause(self) -> None:
        """Makes it hang: it keeps its connections and answers nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Ends a pause."""
        os.kill(self.pid, signal.SIGCONT)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=_END_S)
            self._process = None

    def _run(
        self, command: Sequence[str], user: int | None, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._log.parent,
                env={**os.environ, **environment},
                start_new_session=True,
                # As this process does: a file over its limit is an error and not the end.
                restore_signals=False,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )


def has_ended(pid: int) -> bool:
    """Whether there is no such process, or nothing of it but its status."""
    return _state_and_parent(pid)[0] in _ENDED


def _running() -> Iterator[int]:
    return (int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal())


def _state_and_parent(pid: int) -> tuple[str, int]:
    """As Linux tells it; ``X`` of a process that is none any more."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    return told[0], int(told[1])


def free_port() -> int:
    """A port of loopback that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
