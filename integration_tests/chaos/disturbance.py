"""What disturbs one process from within: a slow or full disk, and a clock that jumps.

It is a library that is loaded before the C library (``LD_PRELOAD``) and maps a file of that process
alone, by which it is switched while the process runs. Nothing else on the machine is disturbed.
"""

import os
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..servers.server_process import ServerProcess

HERE = Path(__file__).resolve().parent
_SWITCHES = struct.Struct("=IIq")


class Library:
    """The library, compiled into a folder that every user can read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "disturbance.so"
        folder.chmod(0o755)
        source = HERE / "disturbance.c"
        compiling = ["cc", "-O2", "-shared", "-fPIC", "-o", str(self.file), str(source), "-ldl"]
        subprocess.run(compiling, check=True)


class DisturbedProcess(ServerProcess):
    """A process whose disk and clock can be disturbed while it runs; its children's as well."""

    def __init__(self, log: Path, library: Library) -> None:
        super().__init__(log)
        self.log = log
        self._switches = library.folder / f"{log.stem}.switches"
        self._switches.write_bytes(_SWITCHES.pack(0, 0, 0))
        self._added = {
            "LD_PRELOAD": str(library.file),
            "CHAOS_SWITCHES": str(self._switches),
        }

    def start(
        self,
        command: Sequence[str],
        *,
        answers: Callable[[], bool],
        as_nobody: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        given = {**(environment or {}), **self._added}
        super().start(command, answers=answers, as_nobody=as_nobody, environment=given)

    def disturb(self, *, delay_s: float = 0.0, full: bool = False, ahead_s: int = 0) -> None:
        """Slow its files, leave no room for them to grow, or set its clock; by default, nothing."""
        # In place: the processes have the file mapped.
        descriptor = os.open(self._switches, os.O_WRONLY)
        try:
            os.pwrite(descriptor, _SWITCHES.pack(round(delay_s * 1e6), full, ahead_s), 0)
        finally:
            os.close(descriptor)
