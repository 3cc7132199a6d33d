"""The trajectories of a tuning, in the database of its folder."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.core.types import TuningConditions
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.database.studies import StudyStore, open_study
from scaar.evaluator.store.folder import TUNE
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.store.studies import Part, Study, find_study, read_study
from scaar.evaluator.studies.tuning.records import TimedAnswer, Trajectory, TunedQuestion


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
_TIMES = "times of "
"""The prefix of the names of the parts with timed answers, before that of the policy."""


@dataclass(frozen=True, slots=True)
class TrajectoryStore:
    """A :class:`~scaar.evaluator.execution.items.RecordStore` of trajectories.

    ``known`` are those of earlier runs.
    """

    store: StudyStore
    known: tuple[Trajectory, ...]
    timed: Mapping[str, tuple[TimedAnswer, ...]]
    """The timed answers of earlier runs by policy."""
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

    async def add_timed(self, policy: str, answer: TimedAnswer) -> None:
        """Store a timed answer.

        Raises:
            ScaarError: it cannot be stored; earlier ones are stored.
        """
        await self.store.part(_times_of(policy)).add((answer,))


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
        stored = read_study(folder, TUNING)
        known = (
            _TRAJECTORY.read(text.encode(), f"a trajectory of {folder}")
            for name, part in stored.found.items()
            if not name.startswith(_TIMES)
            for text in part.values()
        )
        timed = {
            policy: tuple(stored.records(_times_of(policy)).values())
            for name in stored.found
            if (policy := name.removeprefix(_TIMES)) != name
        }
        # Those of earlier versions are made again.
        yield TrajectoryStore(store, tuple(each for each in known if each.usage), timed)


def _times_of(policy: str) -> Part[TimedAnswer]:
    return Part(f"{_TIMES}{policy}", RecordJson(TimedAnswer))
