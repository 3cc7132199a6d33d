"""The processes of an evaluation: an orchestrator that can be held up, workers, the service."""

import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from scaar.testing.ports import free_port

from ..servers.scaar_process import ENVIRONMENT, scaar
from ..servers.server_process import ServerProcess

HERE = Path(__file__).resolve().parent


class Orchestrator:
    """An orchestrator with constant answers; after its end, it starts again at the same port."""

    def __init__(self, folder: Path, *, most_calls: int = 64) -> None:
        self._folder, self._most_calls = folder, most_calls
        self._port = free_port()
        self.process = ServerProcess(folder / "orchestrator.log")

    @property
    def target(self) -> str:
        return f"dns:///127.0.0.1:{self._port}"

    @property
    def requests(self) -> list[str]:
        """The requests whose answers were awaited after their first event, in order."""
        file = self._folder / "requested"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def held(self) -> int:
        """Number of answers that wait."""
        return int((self._folder / "held").read_text())

    def start(self) -> None:
        address = f"127.0.0.1:{self._port}"
        program = str(HERE / "steady_orchestrator.py")
        self.process.start(
            [sys.executable, program, str(self._folder), address, str(self._most_calls)],
            answers=self._answers,
            environment=ENVIRONMENT,
        )

    def hold(self) -> None:
        """Make its answers wait from now on."""
        (self._folder / "hold").touch()

    def let_go(self) -> None:
        """Let its answers continue."""
        (self._folder / "hold").unlink(missing_ok=True)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0


class Worker:
    """``scaar eval worker`` with settings of an evaluator."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self._environment = _environment_of(settings)
        self._log = folder / "worker.log"
        self.process = ServerProcess(self._log)

    def start(self, *, ahead_s: float = 0.0) -> None:
        """Starts it, its clock so far ahead, and returns once it takes shards."""
        command = scaar("eval", "worker")
        if ahead_s:
            moved = f"import time; real = time.time; time.time = lambda: real() + {ahead_s}"
            run = "import runpy; runpy.run_module('scaar.cli', run_name='__main__')"
            command = [sys.executable, "-c", f"{moved}; {run}", *command[3:]]
        self.process.start(
            command,
            answers=lambda: "worker takes shards" in self._log.read_text(),
            environment=self._environment,
        )


class Service:
    """``scaar serve evaluator`` with settings; one that was ended starts again at the same port."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self._environment = _environment_of(settings)
        self._address = f"127.0.0.1:{free_port()}"
        self._log = folder / "evaluator.log"
        self.process = ServerProcess(self._log)

    @property
    def target(self) -> str:
        return f"dns:///{self._address}"

    def start(self) -> None:
        """Starts it, and returns once it serves."""
        self.process.start(
            scaar("serve", "evaluator", "--address", self._address),
            answers=lambda: "evaluator serving on" in self._log.read_text(),
            environment=self._environment,
        )


def _environment_of(settings: Mapping[str, object]) -> Mapping[str, str]:
    given = {f"SCAAR_EVALUATOR_{name.upper()}": str(each) for name, each in settings.items()}
    return {**ENVIRONMENT, **given}
