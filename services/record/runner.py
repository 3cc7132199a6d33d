"""The runner of a plan: its commands, one after another.

Each command runs, also if it has finished before: a finished evaluation repeats no question, and
the command refuses a folder made with another model or other questions.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from record.evaluations import add_command
from record.plan import MODEL
from record.step import Step
from scaar.lab.models import LAB_LM

OnStep = Callable[[str], None]


def run_steps(steps: Sequence[Step], root: Path, *, on_step: OnStep) -> list[str]:
    """Run each step into ``root``; return the names of those that did not finish.

    ``on_step`` gets a line before each step. An evaluation with failed questions has finished: they
    score 0, as its report says.
    """
    root.mkdir(parents=True, exist_ok=True)
    unfinished = []
    for step in steps:
        command = command_of(step, root.name)
        on_step(f"{step.name}: {command}")
        if _run(step, root):
            add_command(root, step.name, command)
        else:
            unfinished.append(step.name)
    return unfinished


def command_of(step: Step, results: str) -> str:
    """Return the command as typed in the project's folder; ``results`` is the results' folder."""
    plain = shlex.join(("scaar", *step.arguments(results)))
    given = (f"{name}={shlex.quote(value)}" for name, value in step.environment(results).items())
    return " ".join((*given, plain))


def _run(step: Step, root: Path) -> bool:
    """Run a command and return whether it finished, with failed questions or without."""
    arguments = (sys.executable, "-m", "scaar.cli", *step.arguments(str(root)))
    environment = {**os.environ, MODEL: LAB_LM, **step.environment(str(root))}
    status = subprocess.run(arguments, env=environment, check=False).returncode
    return status == 0 or (status == 1 and (root / step.name / "scores.csv").exists())
