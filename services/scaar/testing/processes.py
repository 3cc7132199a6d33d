"""A service in its own process, started by the command line."""

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
    """A process that serves or is starting. ``stderr`` is the file of its output."""

    name: str
    process: subprocess.Popen[bytes]
    stderr: Path

    @property
    def target(self) -> str:
        """Wait until the process serves, and return its address."""
        start = f"{self.name} serving on "
        while True:
            ended = self.process.poll() is not None
            for line in self.output_lines():
                if line.startswith(start):
                    return f"dns:///{line.removeprefix(start)}"
            assert not ended, f"{self.name} ended before it served: {self.output_lines()}"
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.05)

    def output_lines(self) -> list[str]:
        """Return the lines of its output so far."""
        return self.stderr.read_text().splitlines()


@contextmanager
def running_service(
    name: str, home: Path, *, address: str = "127.0.0.1:0", **environment: str
) -> Iterator[RunningService]:
    """Run ``scaar serve NAME`` with the data folder, on a free port, until the block ends."""
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
