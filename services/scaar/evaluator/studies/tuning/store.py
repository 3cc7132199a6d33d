"""The trajectories of a tuning, in the database of its folder."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.types import TuningConditions
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.database.studies import StudyStore, open_study
from scaar.evaluator.store.folder import TUNE
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.store.studies import Part, Study, find_study, read_study
from scaar.evaluator.studies.tuning.records import Trajectory, TunedQuestion


@dataclass(frozen=True, slots=True)
class TuningRun:
    """What decides the trajectories: two runs with equal values share them."""

    samples: tuple[DatasetOrigin, ...]
    conditions: tuple[TuningConditions, ...]
    """The model, the scorer and the index of each sample."""
    triggers: tuple[str, ...]
    timeout_s: float


TUNING = Study(TUNE, "tuning", RecordJson(TuningRun), (), may_differ=(), field="--work")
_TRAJECTORY = RecordJson(Trajectory)


@dataclass(frozen=True, slots=True)
class TrajectoryStore:
    """A :class:`~scaar.evaluator.execution.items.RecordStore` of trajectories.

    ``known`` are those of earlier runs.
    """

    store: StudyStore
    known: tuple[Trajectory, ...]
    gather_s: float = 0.25

    async def add(self, records: Sequence[Trajectory], /) -> None:
        """Store trajectories.

        Raises:
            ScaarError: they cannot be stored; earlier ones are stored.
        """
        parts: defaultdict[str, list[Trajectory]] = defaultdict(list)
        for each in records:
            parts[f"{each.plan} {each.retrieving}"].append(each)
        for name, some in parts.items():
            await self.store.part(Part(name, _TRAJECTORY)).add(some)


def check_tuning_folder(folder: Path) -> None:
    """Validate the folder of a tuning.

    Raises:
        InvalidRequest: it is a file, or contains something else.
    """
    find_study(folder, TUNING)


@asynccontextmanager
async def open_tuning(
    folder: Path, run: TuningRun, questions: Sequence[TunedQuestion]
) -> AsyncIterator[TrajectoryStore]:
    """Hold the folder of a tuning to resume it; create the folder if it does not exist.

    Raises:
        InvalidRequest: the folder has another tuning or other files, or another run is using it.
        DataCorrupt: the database is corrupt.
        ScaarError: the folder cannot be written.
    """
    named = [replace(each.question, id=each.key) for each in questions]
    async with open_study(folder, TUNING, run, named) as store:
        found = read_study(folder, TUNING).found
        known = tuple(
            _TRAJECTORY.read(text.encode(), f"a trajectory of {folder}")
            for part in found.values()
            for text in part.values()
        )
        yield TrajectoryStore(store, known)
