"""The five services as processes on loopback, configured by their environment."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

_SERVING = re.compile(r"serving on (\S+)")
_BACK_ENDS = ("generator", "scorer", "query-builder", "retriever")


@dataclass(frozen=True, slots=True)
class Servers:
    """The addresses and the processes of the services, by name."""

    targets: Mapping[str, str]
    processes: Mapping[str, Process]

    def resident_mb(self, service: str) -> float:
        """Return the resident memory of a service in megabytes."""
        pages = Path(f"/proc/{self.processes[service].pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu_s(self) -> float:
        """Return the CPU time of all services in seconds."""
        ticks = 0
        for process in self.processes.values():
            # Fields 14 and 15, user and system time, after the name in parentheses.
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def open_servers(home: Path, **environment: str) -> AsyncIterator[Servers]:
    """Run the services until the block ends."""
    variables = {**os.environ, "SCAAR_HOME": str(home), **environment}
    targets: dict[str, str] = {}
    processes: dict[str, Process] = {}
    drains: list[asyncio.Task[None]] = []
    try:
        for name in (*_BACK_ENDS, "orchestrator"):
            options = [] if name in _BACK_ENDS else _targets(targets)
            command = (sys.executable, "-m", "scaar.cli", "serve", name, *options)
            process = await asyncio.create_subprocess_exec(
                *command, "--address", "127.0.0.1:0", env=variables, stderr=PIPE
            )
            processes[name] = process
            targets[name] = await _address(name, process)
            drains.append(asyncio.create_task(_drain(process)))
        yield Servers(targets, processes)
    finally:
        for process in processes.values():
            if process.returncode is None:
                process.terminate()
        for process in processes.values():
            await process.wait()
        await asyncio.gather(*drains)


def _targets(found: Mapping[str, str]) -> list[str]:
    return [part for name in _BACK_ENDS for part in (f"--{name}", found[name])]


async def _address(name: str, process: Process) -> str:
    assert process.stderr is not None
    said = []
    while line := (await process.stderr.readline()).decode():
        if found := _SERVING.search(line):
            return f"dns:///{found[1]}"
        said.append(line)
    raise RuntimeError(f"{name} did not start: {''.join(said)}")


async def _drain(process: Process) -> None:
    """Drain the output of a process, so that it never blocks."""
    assert process.stderr is not None
    while await process.stderr.readline():
        pass
