"""The evaluations of a record: run by their commands, one after another, and read when finished.

Each command runs, also if it has finished before: a finished evaluation repeats no question, and
the command refuses a folder made with another model or other questions.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from record.steps import MODEL, Step
from scaar.core.errors import DataCorrupt, NotFound
from scaar.evaluator.store.files import read_whole, write_whole
from scaar.lab.models import LAB_LM

COMMANDS = "commands.json"
"""The file that maps the name of each folder to its command, in the order of completion."""


@dataclass(frozen=True, slots=True)
class FinishedEvaluation:
    """A finished evaluation: its name, folder and command."""

    name: str
    folder: Path
    command: str


def read_commands(root: Path) -> Mapping[str, str]:
    """Return the commands that have finished; none where there is no record yet.

    Raises:
        DataCorrupt: the file of commands is damaged.
    """
    path = root / COMMANDS
    try:
        read = json.loads(read_whole(path))
    except NotFound:
        return {}
    except ValueError as error:
        raise DataCorrupt(f"{path} is not JSON: {error}") from error
    if not isinstance(read, dict) or not all(isinstance(each, str) for each in read.values()):
        raise DataCorrupt(f"{path} must map folders to commands")
    return read


def add_command(root: Path, name: str, command: str) -> None:
    """Record that a command has finished."""
    commands = {**read_commands(root), name: command}
    write_whole(root / COMMANDS, json.dumps(commands, indent=2).encode() + b"\n")


def read_evaluations(root: Path) -> tuple[FinishedEvaluation, ...]:
    """Return the finished evaluations of a record.

    Raises:
        NotFound: there is none.
        DataCorrupt: the file of commands is damaged.
    """
    commands = read_commands(root)
    if not commands:
        raise NotFound(f"{root} holds no evaluations of record: there is no {COMMANDS}")
    return tuple(
        FinishedEvaluation(name, root / name, command) for name, command in commands.items()
    )


OnStep = Callable[[str], None]


def run_steps(steps: Sequence[Step], root: Path, *, on_step: OnStep) -> list[str]:
    """Run each step into ``root``; return the names of those that did not finish.

    ``on_step`` gets a line before each step. An evaluation with failed questions has finished: they
    score 0, as its report says.
    """
    root.mkdir(parents=True, exist_ok=True)
    unfinished = []
    for step in steps:
        command = command_of(step, str(root))
        on_step(f"{step.name}: {command}")
        if _run(step, root):
            add_command(root, step.name, command)
        else:
            unfinished.append(step.name)
    return unfinished


def command_of(step: Step, results: str) -> str:
    """Return the command as typed beside the folder of all results, ``results``."""
    plain = shlex.join(("scaar", *step.arguments(results)))
    given = (f"{name}={shlex.quote(value)}" for name, value in step.environment(results).items())
    return " ".join((*given, plain)).replace(results, Path(results).name)


def _run(step: Step, root: Path) -> bool:
    """Run a command and return whether it finished, with failed questions or without."""
    arguments = (sys.executable, "-m", "scaar.cli", *step.arguments(str(root)))
    environment = {**os.environ, MODEL: LAB_LM, **step.environment(str(root))}
    status = subprocess.run(arguments, env=environment, check=False).returncode
    return status == 0 or (status == 1 and (root / step.name / "scores.csv").exists())
