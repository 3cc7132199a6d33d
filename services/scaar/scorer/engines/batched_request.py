"""A request's pairs on their way through the batcher: which wait, and which are answered."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

BUCKETS = (64, 128, 256, 512)
"""Lengths in tokens; pairs share a batch where the same of them is the first with room."""


class Pair(Hashable, Sized, Protocol):
    """What the model is asked; its length is in tokens. Equal pairs are computed once a batch."""


P = TypeVar("P", bound=Pair)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much is computed, and how much waits, at a time."""

    pair_tokens: int
    """The longest pair; also the last bucket."""

    batch_pairs: int
    queued_pairs: int
    parallel: int = 1
    """Batches under way at a time."""

    def bucket_of(self, pair: Sized) -> int:
        """The first bucket that the pair fits, the model's maximum where none does."""
        fitting = (bucket for bucket in BUCKETS if len(pair) <= bucket)
        return min(next(fitting, self.pair_tokens), self.pair_tokens)


class BatchedRequest(Generic[P]):
    """Room for the pairs of one request, as a batcher admitted it."""

    def __init__(
        self, count: int, limits: BatchLimits, enqueue: Callable[["BatchedRequest[P]"], None]
    ) -> None:
        self._limits = limits
        self._enqueue = enqueue
        self._answer: asyncio.Future[None] | None = None
        self._similarities: list[float] = []
        self._missing = count
        self._queued: dict[int, deque[tuple[int, P]]] = {}
        self.queued_pairs = count
        self.enqueued_s: float | None = None
        """When its pairs were put in line, by the loop's clock; None again once one was taken."""

    async def similarities(self, pairs: Sequence[P]) -> list[float]:
        """The similarity of each pair; asked for once, for as many pairs as were admitted.

        Raises:
            BackendUnavailable: the batcher was closed. And whatever the model raises.
        """
        if len(pairs) != self._missing:
            raise ValueError(f"{self._missing} pairs were admitted, not {len(pairs)}")
        if not pairs:
            return []
        self._similarities = [0.0] * len(pairs)
        for place, pair in enumerate(pairs):
            bucket = self._limits.bucket_of(pair)
            self._queued.setdefault(bucket, deque()).append((place, pair))
        loop = asyncio.get_running_loop()
        self._answer, self.enqueued_s = loop.create_future(), loop.time()
        self._enqueue(self)
        await self._answer
        return self._similarities

    def first_bucket(self) -> int:
        """A bucket of which pairs wait."""
        return next(iter(self._queued))

    def has(self, bucket: int) -> bool:
        """Whether pairs of the bucket wait."""
        return bucket in self._queued

    def take(self, bucket: int) -> tuple[int, P]:
        """The next pair of the bucket, and its place in the request."""
        queue = self._queued[bucket]
        taken = queue.popleft()
        if not queue:
            del self._queued[bucket]
        self.queued_pairs -= 1
        return taken

    def drop(self) -> None:
        """Forgets what waits."""
        self._queued.clear()
        self.queued_pairs = 0

    def answer(self, place: int, similarity: float) -> None:
        """Takes the similarity of one pair; the last one ends the wait."""
        self._similarities[place] = similarity
        self._missing -= 1
        if not self._missing and self._answer and not self._answer.done():
            self._answer.set_result(None)

    def fail(self, error: BaseException) -> None:
        """Ends the wait with the error."""
        if self._answer and not self._answer.done():
            self._answer.set_exception(error)
            # Its caller may leave at this very moment; then nobody is there to be told.
            self._answer.exception()
