"""The plan as commands, one after another.

Each is run whether it was run before or not: it asks nothing twice, and refuses a folder whose
model or questions are no longer those that there are.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from record.kept import add_command
from record.plan import Entry
from scaar.lab.models import LAB_LM

Told = Callable[[str], None]
MODEL = "SCAAR_GENERATOR_MODEL"


def run_entries(entries: Sequence[Entry], root: Path, *, told: Told) -> list[str]:
    """Runs each evaluation into its folder below ``root``; the names of those that did not end.

    One in which questions failed has ended: they count as 0, as its report says.
    """
    root.mkdir(parents=True, exist_ok=True)
    broken = []
    for entry in entries:
        command = command_of(entry, root.name)
        told(f"{entry.name}: {command}")
        if _run(entry, root):
            add_command(root, entry.name, command)
        else:
            broken.append(entry.name)
    return broken


def command_of(entry: Entry, results: str) -> str:
    """The command as it is typed in the project's folder, where ``results`` are the results."""
    plain = shlex.join(("scaar", *entry.arguments(f"{results}/{entry.name}")))
    if entry.model == LAB_LM:
        return plain
    return f"{MODEL}={entry.model} {plain}"


def _run(entry: Entry, root: Path) -> bool:
    """Whether the command came to its end, be it with questions that failed."""
    folder = root / entry.name
    arguments = (sys.executable, "-m", "scaar.cli", *entry.arguments(str(folder)))
    environment = {**os.environ, MODEL: entry.model}
    status = subprocess.run(arguments, env=environment, check=False).returncode
    return status == 0 or (status == 1 and (folder / "scores.csv").exists())
