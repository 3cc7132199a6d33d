"""Report of a training: its settings, its progress and its results."""

import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import jax

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# A report is JSON.
Json = Any


@dataclass(slots=True)
class TrainingLog:
    """Collects the progress of a training, and builds its report."""

    command: str
    seed: int
    started: float = field(default_factory=time.monotonic)
    course: list[dict[str, float]] = field(default_factory=list)

    def resume(self, course: list[dict[str, float]]) -> None:
        """Continue the progress of an interrupted training, and count its seconds."""
        self.course[:] = course
        if course:
            self.started -= course[-1]["seconds"]

    def add(self, progress: "DataclassInstance") -> None:
        """Add a progress report (a dataclass of numbers) with the seconds so far."""
        row = {key: round(float(value), 5) for key, value in asdict(progress).items()}
        row["seconds"] = round(time.monotonic() - self.started, 1)
        self.course.append(row)

    def report(
        self,
        shape: "DataclassInstance",
        training: "DataclassInstance",
        measured: Mapping[str, Json],
    ) -> dict[str, Json]:
        """Return the complete report as JSON."""
        return {
            "command": self.command,
            "seed": self.seed,
            "seconds": round(time.monotonic() - self.started, 1),
            "shape": asdict(shape),
            "training": asdict(training),
            "jax": jax.__version__,
            "machine": platform.machine(),
            "measured": dict(measured),
            "course": self.course,
        }
