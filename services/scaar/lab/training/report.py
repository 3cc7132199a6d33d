"""What is kept of a training: how it was done and what came of it."""

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
    """Collects the course of a training and makes the report of it."""

    command: str
    seed: int
    began: float = field(default_factory=time.monotonic)
    course: list[dict[str, float]] = field(default_factory=list)

    def add(self, progress: "DataclassInstance") -> None:
        """Notes a progress (a dataclass of numbers) with the seconds so far."""
        row = {key: round(float(value), 5) for key, value in asdict(progress).items()}
        row["seconds"] = round(time.monotonic() - self.began, 1)
        self.course.append(row)

    def report(
        self,
        shape: "DataclassInstance",
        training: "DataclassInstance",
        measured: Mapping[str, Json],
    ) -> dict[str, Json]:
        """The whole report, ready for JSON."""
        return {
            "command": self.command,
            "seed": self.seed,
            "seconds": round(time.monotonic() - self.began, 1),
            "shape": asdict(shape),
            "training": asdict(training),
            "jax": jax.__version__,
            "machine": platform.machine(),
            "measured": dict(measured),
            "course": self.course,
        }
