"""A service as a process of its own, by the command that users start it with."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunningService:
    """A process that serves, or will soon; ``stderr`` is the file of what it says."""

    name: str
    process: subprocess.Popen[bytes]
    stderr: Path

    @property
    def target(self) -> str:
        """Where it serves, as soon as it does."""
        start = f"{self.name} serving on "
        while True:
            ended = self.process.poll() is not None
            for line in self.told():
                if line.startswith(start):
                    return f"dns:///{line.removeprefix(start)}"
            assert not ended, f"{self.name} ended before it served: {self.told()}"
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.05)

    def told(self) -> list[str]:
        """What it has said so far, by lines."""
        return self.stderr.read_text().splitlines()


@contextmanager
def running_service(
    name: str, home: Path, *, address: str = "127.0.0.1:0", **environment: str
) -> Iterator[RunningService]:
    """``scaar serve NAME`` over the data folder, on a free port; it ends with the block."""
    descriptor, path = tempfile.mkstemp(prefix=f"{name}-", dir=home.parent)
    command = [sys.executable, "-m", "scaar.cli", "serve", name, "--address", address]
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "SCAAR_HOME": str(home), **environment}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=descriptor, env={**os.environ, **variables}
    ) as process:
        os.close(descriptor)
        try:
            yield RunningService(name, process, Path(path))
        finally:
            process.terminate()
