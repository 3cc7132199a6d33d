"""Server process on loopback that is started, paused and ended by its process id."""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

NOBODY = 65534
_START_S = 300
_END_S = 300
_ENDED = ("X", "Z")
_STOPPED = ("T", "t")


@contextmanager
def server_folder(home: Path) -> Iterator[Path]:
    """A folder for the data of a server, in the cache of ``home``, removed after the block."""
    servers = home / ".cache" / "servers"
    servers.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=servers))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def other_than_root(folder: Path) -> int | None:
    """Return the user for a server that refuses to run as root and has its files in the folder.

    The user is nobody if the tests run as root, else None, the current user.

    Raises:
        PermissionError: nobody cannot enter the folder or one of its parents, which is named.
    """
    if os.geteuid():
        return None
    for each in reversed(folder.resolve().parents):
        found = each.stat()
        if found.st_uid != NOBODY and not found.st_mode & stat.S_IXOTH:
            text = f"the server runs as nobody, who cannot enter {each}: run chmod o+x {each}"
            raise PermissionError(text)
    return NOBODY


def command_as(user: int | None, command: Sequence[str]) -> list[str]:
    """Return the command, run as a user and with its group alone; None: as the current user.

    ``subprocess`` would fork to change the user, and a fork of a process with gRPC may crash.
    """
    if user is None:
        return list(command)
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--", *command]


class ServerProcess:
    """A process whose output goes to ``log``. It can be started again after its end.

    ``environment`` is added to the environment of every start.
    """

    def __init__(self, log: Path, *, environment: Mapping[str, str] | None = None) -> None:
        self._log = log
        self._environment = environment or {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Id of the running process."""
        assert self._process
        return self._process.pid

    def start(
        self,
        command: Sequence[str],
        *,
        answers: Callable[[], bool],
        as_nobody: bool = False,
        environment: Mapping[str, str] | None = None,
        within_s: float = _START_S,
    ) -> None:
        """Start the command and wait until it answers.

        Raises:
            RuntimeError: the process ended, or does not answer in time.
            PermissionError: the process runs as nobody, who cannot reach its log.
        """
        user = other_than_root(self._log) if as_nobody else None
        self._process = self._run(command, user, environment or {})
        until = time.monotonic() + within_s
        while self._process.poll() is None and time.monotonic() < until:
            if answers():
                return
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"{Path(command[0]).name} did not start: {self._log.read_text()}")

    def kill(self) -> None:
        """Kill the process, as a loss of power would."""
        self._end(signal.SIGKILL)

    def kill_with_children(self) -> None:
        """Kill the process and its children, and wait until all have ended."""
        if self._process is None or self._process.poll() is not None:
            return
        # A paused process starts no more children.
        self.pause()
        children = self.children()
        self.kill()
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while not all(has_ended(pid) for pid in children):
            time.sleep(0.01)

    def children(self) -> list[int]:
        """Return the ids of its child processes."""
        return [pid for pid in _running() if _state_and_parent(pid)[1] == self.pid]

    def wait(self) -> int:
        """Wait until the process ends by itself, and return its status."""
        assert self._process
        return self._process.wait(timeout=_START_S)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop the process gracefully."""
        self._end(number)

    def pause(self) -> None:
        """Suspend the process, which keeps its connections, and return once it runs no more."""
        os.kill(self.pid, signal.SIGSTOP)
        while _state_and_parent(self.pid)[0] not in (*_STOPPED, *_ENDED):
            time.sleep(0.001)

    def resume(self) -> None:
        """Resume a paused process."""
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
                command_as(user, command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._log.parent,
                env={**os.environ, **environment, **self._environment},
                start_new_session=True,
                # As in this process: writing above the file size limit is an error, not a signal.
                restore_signals=False,
            )


def has_ended(pid: int) -> bool:
    """Return whether the process has ended, even if its status was not read."""
    return _state_and_parent(pid)[0] in _ENDED


def is_ready(url: str) -> bool:
    """Return whether a server answers the URL with HTTP 200."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def _running() -> Iterator[int]:
    return (int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal())


def _state_and_parent(pid: int) -> tuple[str, int]:
    """Return state and parent from ``/proc``; ``X`` if the process does not exist."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    return fields[0], int(fields[1])
