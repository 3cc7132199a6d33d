"""The port of stores of predictions."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from scaar.evaluator.planning.work import Key
from scaar.evaluator.records import Prediction


class PredictionStore(Protocol):
    """Stores the predictions of one evaluation, one for each setting and question."""

    @property
    def gather_s(self) -> float:
        """Seconds that a prediction may wait to be stored together with others."""
        ...

    async def known(self) -> Mapping[Key, bool]:
        """Return the stored predictions by key, with whether they failed."""
        ...

    async def add(self, predictions: Sequence[Prediction]) -> None:
        """Store predictions durably; each replaces a failed one of the same key.

        Raises:
            ScaarError: they cannot be stored; earlier predictions are stored.
        """
        ...
