"""The running ``scaar up`` of a data folder, which other commands find by its run file."""

import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import settings_class
from scaar.compose import scaar_home
from scaar.core.errors import AlreadyExists, InvalidRequest
from scaar.runtime.settings import ServiceSettings, Settings, variable_of

_RUN_FILE, _LOCK = "up.json", "up.lock"
_LOCK_TRIES, _LOCK_PAUSE_S = 20, 0.05
"""A command that looks for a running one holds the lock for a moment."""
_ANSWERING = (
    ServiceName.ORCHESTRATOR,
    ServiceName.GENERATOR,
    ServiceName.SCORER,
    ServiceName.QUERY_BUILDER,
    ServiceName.RETRIEVER,
)
"""The services whose settings decide an answer."""

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RunningUp:
    """A running ``scaar up``."""

    pid: int
    addresses: Mapping[ServiceName, str]
    """Address of each service of gRPC that can be called."""
    settings: Mapping[ServiceName, Values]
    """Settings that decide its answers, by service; secrets are masked."""
    is_open: bool
    """Whether any command of this machine may call it."""
    is_ready: bool
    """Whether its services are ready; before, it is still starting."""

    @property
    def orchestrator(self) -> str:
        """Address of the orchestrator."""
        return self.addresses[ServiceName.ORCHESTRATOR]

    def target_of(self, service: ServiceName) -> str | None:
        """Return the target of a service of gRPC; None if it will not run or is not open."""
        address = self.addresses.get(service) if self.is_open else None
        return None if address is None else f"dns:///{address}"

    def differing_settings(self) -> tuple[str, ...]:
        """Return the variables that are set for this process to other values than for it."""
        return tuple(
            variable_of(cls, field)
            for service in _ANSWERING
            for cls in (settings_class(service),)
            for settings in (cls.read_each(),)
            for field, value in _values(settings, settings.model_fields_set).items()
            if self.settings[service].get(field) != value
        )


class RunFile:
    """The run file of this process, which holds the lock of the data folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._running: RunningUp | None = None

    def announce(self, addresses: Mapping[ServiceName, str], *, is_open: bool) -> None:
        """Say where the services of this process will be.

        ``is_open`` is whether any command of this machine may call them.

        Raises:
            InvalidRequest: a setting that decides answers is invalid.
        """
        settings = {
            service: _values(read, type(read).model_fields)
            for service in _ANSWERING
            for read in (settings_class(service).read(),)
        }
        self._write(RunningUp(os.getpid(), addresses, settings, is_open, is_ready=False))

    def announce_ready(self) -> None:
        """Say that the announced services are ready."""
        assert self._running is not None, "services are announced before they are ready"
        self._write(replace(self._running, is_ready=True))

    def delete(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)

    def _write(self, running: RunningUp) -> None:
        self._running = running
        written = self._path.with_suffix(".part")
        written.touch(mode=0o600)
        written.write_text(json.dumps(asdict(running)))
        written.replace(self._path)


@contextmanager
def run_file() -> Iterator[RunFile]:
    """Hold the lock of the data folder during the block.

    Other commands wait for the announcement of this process, if they need it.

    Raises:
        AlreadyExists: another ``scaar up`` runs on the data folder; says where.
        InvalidRequest: the data folder cannot be written.
    """
    home = scaar_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = (home / _LOCK).open("a")
    except OSError as error:
        text = f"{home} cannot be written: {error.strerror}"
        raise InvalidRequest.of("SCAAR_HOME", text) from error
    with lock:
        if not _locked(lock):
            text = f"scaar up is running on {home} already"
            if (other := _read(home / _RUN_FILE)) is not None:
                text += f", as process {other.pid}, with the orchestrator at {other.orchestrator}"
            raise AlreadyExists(f"{text}; stop it, or set SCAAR_HOME to another folder")
        file = RunFile(home / _RUN_FILE)
        # A killed process leaves its file.
        file.delete()
        try:
            yield file
        finally:
            file.delete()


def find_running_up() -> RunningUp | None:
    """Return the running ``scaar up`` of the data folder; None if none runs.

    Waits for the announcement of one that has just started, which takes seconds at most.
    """
    home = scaar_home()
    while _is_locked(home / _LOCK):
        if (home / _RUN_FILE).exists():
            return _read(home / _RUN_FILE)
        time.sleep(_LOCK_PAUSE_S)
    return None


def _is_locked(path: Path) -> bool:
    """Return whether a process holds the lock; one that was killed does not."""
    try:
        with path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _locked(lock: IO[str]) -> bool:
    for attempt in range(_LOCK_TRIES):
        if attempt:
            time.sleep(_LOCK_PAUSE_S)
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _read(path: Path) -> RunningUp | None:
    """Return the content of a run file; None if there is none that this version can read."""
    try:
        found = RunningUp(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return found


def _values(settings: Settings, fields: Iterable[str]) -> dict[str, object]:
    """Return the values of fields that decide answers, as JSON, with absolute paths."""
    named = [name for name in fields if name not in ServiceSettings.model_fields]
    values: dict[str, object] = settings.model_dump(mode="json", include=set(named))
    for name, value in values.items():
        if isinstance(value, str) and value and Path(value).exists():
            values[name] = str(Path(value).absolute())
    return values
