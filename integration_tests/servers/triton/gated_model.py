"""A model that computes when a test lets it, and the test's side of that."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scaar.core.ports import ContributionScorer
from scaar.core.types import ScoreRequest
from scaar.scorer.triton_repository.model_config import MODEL_NAME

from .running_triton import PATIENCE_S

_WAITING = '''

import os
import time


class TritonPythonModel(TritonPythonModel):
    """Tells that it was asked, and waits until it may answer."""

    def initialize(self, args):
        super().initialize(args)
        self._folder = Path(args["model_repository"])

    def execute(self, requests):
        (self._folder / f"asked-{os.getpid()}").touch()
        while not (self._folder / "open").exists():
            time.sleep(0.005)
        return super().execute(requests)
'''


@dataclass(frozen=True, slots=True)
class Gate:
    """Holds back what a model computes; open at first, for the model is warmed up."""

    repository: Path

    @property
    def _folder(self) -> Path:
        return self.repository / MODEL_NAME

    def close(self) -> None:
        """Has what is asked from now on wait, and forgets what was asked."""
        (self._folder / "open").unlink()
        for each in self._folder.glob("asked-*"):
            each.unlink()

    def open(self) -> None:
        """Release all requests."""
        (self._folder / "open").touch()

    async def wait_for_requests(self, instances: int = 1) -> None:
        """Wait until this number of the model's instances hold back a request."""
        # Another process reports it by a file.
        async with asyncio.timeout(PATIENCE_S):
            while len(list(self._folder.glob("asked-*"))) < instances:  # noqa: ASYNC110
                await asyncio.sleep(0.005)


async def score(scorer: ContributionScorer, sentence: ScoreRequest) -> tuple[float, ...]:
    """Return the contributions of one sentence."""
    (row,) = await scorer.score_contributions([sentence])
    return row


async def held_back(
    gate: Gate, scorer: ContributionScorer, both: Sequence[ScoreRequest]
) -> list[asyncio.Task[tuple[float, ...]]]:
    """Two calls, each held back by an instance of the model: what comes now waits in the queue."""
    gate.close()
    calls = []
    for number, sentence in enumerate(both, start=1):
        calls.append(asyncio.create_task(score(scorer, sentence)))
        await gate.wait_for_requests(instances=number)
    return calls


def put_gate(repository: Path) -> Gate:
    """A gate in front of the model of an exported repository."""
    with (repository / MODEL_NAME / "1" / "model.py").open("a") as program:
        program.write(_WAITING)
    gate = Gate(repository)
    gate.open()
    return gate
