"""Faults of a single process: a slow or full disk, and a clock that jumps.

A library that is loaded before the C library (``LD_PRELOAD``) reads the faults from a file that the
process has mapped, so they can change while it runs. Other processes are not affected.
"""

import os
import struct
import subprocess
from pathlib import Path

from ..servers.server_process import ServerProcess

HERE = Path(__file__).resolve().parent
_SWITCHES = struct.Struct("=IIq")


class Library:
    """The compiled library, in a folder that every user can read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "disturbance.so"
        folder.chmod(0o755)
        source = HERE / "disturbance.c"
        compiling = ["cc", "-O2", "-shared", "-fPIC", "-o", str(self.file), str(source), "-ldl"]
        subprocess.run(compiling, check=True)


class DisturbedProcess(ServerProcess):
    """A process whose disk and clock can be disturbed, together with those of its children."""

    def __init__(self, log: Path, library: Library) -> None:
        self.log = log
        self._switches = library.folder / f"{log.stem}.switches"
        self._switches.write_bytes(_SWITCHES.pack(0, 0, 0))
        super().__init__(
            log,
            environment={"LD_PRELOAD": str(library.file), "CHAOS_SWITCHES": str(self._switches)},
        )

    def disturb(self, *, delay_s: float = 0.0, full: bool = False, ahead_s: int = 0) -> None:
        """Delay file operations, simulate a full disk, or shift the clock; by default, nothing."""
        # Written in place, since the processes have the file mapped.
        descriptor = os.open(self._switches, os.O_WRONLY)
        try:
            os.pwrite(descriptor, _SWITCHES.pack(round(delay_s * 1e6), full, ahead_s), 0)
        finally:
            os.close(descriptor)
