"""The ports of stores of records, such as predictions."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from scaar.evaluator.planning.work import Key
from scaar.evaluator.records import Prediction

R_contra = TypeVar("R_contra", contravariant=True)


class RecordStore(Protocol[R_contra]):
    """Stores the records of one study, one for each item."""

    @property
    def gather_s(self) -> float:
        """Seconds that a record may wait to be stored together with others."""
        ...

    async def add(self, records: Sequence[R_contra], /) -> None:
        """Store records durably.

        Raises:
            ScaarError: they cannot be stored; earlier records are stored.
        """
        ...


class PredictionStore(RecordStore[Prediction], Protocol):
    """Stores the predictions of one evaluation, one for each setting and question.

    A prediction replaces a failed one of the same key.
    """

    async def known(self) -> Mapping[Key, bool]:
        """Return the stored predictions by key, with whether they failed."""
        ...
