"""The folder of a tuning: its conditions, and the trajectories made so far.

tuning.json          what was tuned on: questions, model, scorer, indexes, triggers
trajectories.jsonl   the trajectories, appended as they are made
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.types import TuningConditions
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.files import locked, read_whole, unwritable, write_whole
from scaar.evaluator.store.line_log import LineLog, whole_lines
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
    """The trajectories of an open folder."""

    def __init__(self, log: LineLog, known: tuple[Trajectory, ...]) -> None:
        self._log = log
        self.known = known

    def add(self, trajectory: Trajectory) -> None:
        """Store a trajectory."""
        self._log.append(_TRAJECTORY.line(trajectory))


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    with locked(folder, field="work"):
        _check_same(folder, run)
        path = folder / TRAJECTORIES
        with LineLog(path) as log:
            known = tuple(_TRAJECTORY.read_lines(whole_lines(path), TRAJECTORIES))
            yield TuningFolder(log, known)


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
