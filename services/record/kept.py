"""The folders of a record, and the commands that filled them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import DataCorrupt, NotFound
from scaar.evaluator.store.files import read_whole, write_whole

COMMANDS = "commands.json"
"""By the name of a folder the command that filled it, in the order in which they ended."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An evaluation that came to its end."""

    name: str
    folder: Path
    command: str


def read_commands(root: Path) -> Mapping[str, str]:
    """The commands that ended; none where there is no record yet.

    Raises:
        DataCorrupt: the file that names them does not hold together.
    """
    path = root / COMMANDS
    try:
        read = json.loads(read_whole(path))
    except NotFound:
        return {}
    except ValueError as error:
        raise DataCorrupt(f"{path} does not hold together: {error}") from error
    if not isinstance(read, dict) or not all(isinstance(each, str) for each in read.values()):
        raise DataCorrupt(f"{path} does not hold together: it must name commands by folders")
    return read


def add_command(root: Path, name: str, command: str) -> None:
    """Keeps that an evaluation came to its end by a command."""
    commands = {**read_commands(root), name: command}
    write_whole(root / COMMANDS, json.dumps(commands, indent=2).encode() + b"\n")


def read_kept(root: Path) -> tuple[Kept, ...]:
    """The evaluations of a record.

    Raises:
        NotFound: there is none.
        DataCorrupt: the file that names them does not hold together.
    """
    commands = read_commands(root)
    if not commands:
        raise NotFound(f"{root} holds no evaluations of record: there is no {COMMANDS}")
    return tuple(Kept(name, root / name, command) for name, command in commands.items())
