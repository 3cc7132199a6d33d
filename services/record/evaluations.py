"""The finished evaluations of a record: their folders, and the commands that filled them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import DataCorrupt, NotFound
from scaar.evaluator.store.files import read_whole, write_whole

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
