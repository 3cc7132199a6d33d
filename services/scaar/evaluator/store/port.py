"""The port behind which predictions are kept."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from scaar.evaluator.planning.work import Key
from scaar.evaluator.records import Prediction


class PredictionStore(Protocol):
    """Keeps the predictions of one evaluation, one of each setting and question."""

    @property
    def gather_s(self) -> float:
        """How long a prediction may wait for others to be kept with, in seconds."""
        ...

    async def known(self) -> Mapping[Key, bool]:
        """What has been asked, and whether it failed."""
        ...

    async def add(self, predictions: Sequence[Prediction]) -> None:
        """Keeps predictions for good; each takes the place of a failed one.

        Raises:
            ScaarError: they cannot be kept; those before them are.
        """
        ...
