"""The folder of a tuning: its conditions, and the trajectories made so far.

tuning.json          what was tuned on: questions, model, scorer, indexes, triggers
trajectories.jsonl   the trajectories, appended as they are made
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from io import FileIO
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.types import TuningConditions
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.files import locked, make_folder, read_whole, unwritable, write_whole
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.studies.tuning.records import Trajectory

FORMAT = 1
TUNING, TRAJECTORIES = "tuning.json", "trajectories.jsonl"


@dataclass(frozen=True, slots=True)
class TuningRun:
    """What decides the trajectories: two runs with equal values share them."""

    samples: tuple[DatasetOrigin, ...]
    conditions: tuple[TuningConditions, ...]
    """The model, the scorer and the index of each sample."""
    triggers: tuple[str, ...]
    timeout_s: float
    format: int = FORMAT


_RUN = RecordJson(TuningRun)
_TRAJECTORY = RecordJson(Trajectory)


class TuningFolder:
    """The trajectories of an open folder; an incomplete last line is removed."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self._path = path
        self._file = file
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        file.truncate(len(whole))
        self.known = tuple(_TRAJECTORY.read_lines(whole, TRAJECTORIES))

    def add(self, trajectory: Trajectory) -> None:
        """Store a trajectory.

        Raises:
            ScaarError: it cannot be written; earlier ones are stored.
        """
        line = _TRAJECTORY.line(trajectory)
        try:
            if self._file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise unwritable(self._path, error, needed_bytes=len(line)) from error


def check_tuning_folder(folder: Path) -> None:
    """Validate the folder of a tuning.

    Raises:
        InvalidRequest: it is a file, or contains files of something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("work", f"{folder} is not a folder")
    names = {each.name for each in folder.iterdir()} if folder.exists() else set()
    if names and TUNING not in names:
        text = f"{folder} contains {min(names)}, not of a tuning; name an empty or new folder"
        raise InvalidRequest.of("work", text)


@contextmanager
def open_tuning(folder: Path, run: TuningRun) -> Iterator[TuningFolder]:
    """Open the folder of a tuning to resume it; create the folder if it does not exist.

    Raises:
        InvalidRequest: the folder has another tuning or other files, or another run is using it.
        DataCorrupt: a file of the folder is corrupt.
    """
    check_tuning_folder(folder)
    make_folder(folder)
    with locked(folder, field="work"):
        _check_same(folder, run)
        path = folder / TRAJECTORIES
        try:
            file = path.open("ab", buffering=0)
        except OSError as error:
            raise unwritable(path, error) from error
        with file:
            yield TuningFolder(path, file)


def _check_same(folder: Path, run: TuningRun) -> None:
    path = folder / TUNING
    if not path.exists():
        write_whole(path, _RUN.document(run))
        return
    stored = _RUN.read(read_whole(path), TUNING)
    if stored.format != FORMAT:
        raise DataCorrupt(f"{path}: format: is {stored.format}; this scaar reads {FORMAT}")
    differing = [
        each.name for each in fields(run) if getattr(stored, each.name) != getattr(run, each.name)
    ]
    if differing:
        text = f"{folder} is of a tuning with other {', '.join(differing)}; name another folder"
        raise InvalidRequest.of("work", text)
