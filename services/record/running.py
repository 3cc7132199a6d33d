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
from record.plan import MODEL
from record.step import Step
from scaar.lab.models import LAB_LM

Told = Callable[[str], None]


def run_steps(steps: Sequence[Step], root: Path, *, told: Told) -> list[str]:
    """Runs each step into what it leaves below ``root``; the names of those that did not end.

    An evaluation in which questions failed has ended: they count as 0, as its report says.
    """
    root.mkdir(parents=True, exist_ok=True)
    broken = []
    for step in steps:
        command = command_of(step, root.name)
        told(f"{step.name}: {command}")
        if _run(step, root):
            add_command(root, step.name, command)
        else:
            broken.append(step.name)
    return broken


def command_of(step: Step, results: str) -> str:
    """The command as it is typed in the project's folder, where ``results`` are the results."""
    plain = shlex.join(("scaar", *step.arguments(results)))
    given = (f"{name}={shlex.quote(value)}" for name, value in step.environment(results).items())
    return " ".join((*given, plain))


def _run(step: Step, root: Path) -> bool:
    """Whether the command came to its end, be it with questions that failed."""
    arguments = (sys.executable, "-m", "scaar.cli", *step.arguments(str(root)))
    environment = {**os.environ, MODEL: LAB_LM, **step.environment(str(root))}
    status = subprocess.run(arguments, env=environment, check=False).returncode
    return status == 0 or (status == 1 and (root / step.name / "scores.csv").exists())
