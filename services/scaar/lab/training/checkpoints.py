"""Checkpoint of a training, from which an interrupted training continues."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from scaar.lab.training.report import TrainingLog

State = Any
"""Parameters and optimizer state: a tree of arrays."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file with the state after a step, and the progress in ``log`` until then.

    ``recipe`` is what the state depends on, as JSON. A file of another recipe is ignored, and
    replaced by the first save.
    """

    path: Path
    recipe: Mapping[str, Any]
    log: TrainingLog

    def save(self, step: int, state: State) -> None:
        """Replace the file."""
        leaves = {f"leaf-{at}": np.asarray(each) for at, each in enumerate(jax.tree.leaves(state))}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new.npz")
        course = json.dumps(self.log.course)
        np.savez(new, step=step, recipe=self._text(), course=course, allow_pickle=False, **leaves)
        new.replace(self.path)

    def load(self, initial: State) -> tuple[int, State]:
        """Return the step and the state, or 0 and ``initial`` without a file of this recipe."""
        if not self.path.exists():
            return 0, initial
        with np.load(self.path) as saved:
            if str(saved["recipe"]) != self._text():
                return 0, initial
            self.log.resume(json.loads(str(saved["course"])))
            count = len(jax.tree.leaves(initial))
            leaves = [jax.numpy.asarray(saved[f"leaf-{at}"]) for at in range(count)]
            return int(saved["step"]), jax.tree.unflatten(jax.tree.structure(initial), leaves)

    def _text(self) -> str:
        return json.dumps(self.recipe, sort_keys=True)
