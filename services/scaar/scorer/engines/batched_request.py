"""State of a request in the batcher: its waiting pairs and its computed similarities."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

BUCKETS = (64, 128, 256, 512)
"""Lengths in tokens. Pairs share a batch if the same bucket is the first that fits them."""
FULL_BATCH_TOKENS = 128
"""Longest pairs of which a batch holds the maximum number. Of longer ones it holds fewer."""


class Pair(Hashable, Sized, Protocol):
    """Input of the model, with its length in tokens. Equal pairs are computed once per batch."""


P = TypeVar("P", bound=Pair)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Limits on the pairs that are computed and that wait at a time."""

    pair_tokens: int
    """Length of the longest pair, which is the last bucket."""

    batch_pairs: int
    queued_pairs: int
    parallel: int = 1
    """Maximum number of concurrent batches."""

    def bucket_of(self, pair: Sized) -> int:
        """Return the first bucket that fits the pair, at most the model's maximum."""
        fitting = (bucket for bucket in BUCKETS if len(pair) <= bucket)
        return min(next(fitting, self.pair_tokens), self.pair_tokens)

    def pairs_of(self, bucket: int) -> int:
        """Return the maximum number of pairs in a batch of the bucket, which bounds its memory."""
        return max(1, self.batch_pairs * FULL_BATCH_TOKENS // max(bucket, FULL_BATCH_TOKENS))


class BatchedRequest(Generic[P]):
    """A request whose number of pairs a batcher has admitted."""

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
        """Time at which the pairs were enqueued, by the loop's clock. None once one was taken."""

    async def similarities(self, pairs: Sequence[P]) -> list[float]:
        """Return the similarity of each pair. Call it once, with the admitted number of pairs.

        Raises:
            BackendUnavailable: the batcher was closed. Errors of the model are raised too.
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
        """Return a bucket with waiting pairs."""
        return next(iter(self._queued))

    def has(self, bucket: int) -> bool:
        """Return whether pairs of the bucket are waiting."""
        return bucket in self._queued

    def take(self, bucket: int) -> tuple[int, P]:
        """Remove and return the next pair of the bucket, with its position in the request."""
        queue = self._queued[bucket]
        taken = queue.popleft()
        if not queue:
            del self._queued[bucket]
        self.queued_pairs -= 1
        return taken

    def drop(self) -> None:
        """Drop the waiting pairs."""
        self._queued.clear()
        self.queued_pairs = 0

    def answer(self, place: int, similarity: float) -> None:
        """Store the similarity of one pair. The last one completes the request."""
        self._similarities[place] = similarity
        self._missing -= 1
        if not self._missing and self._answer and not self._answer.done():
            self._answer.set_result(None)

    def fail(self, error: BaseException) -> None:
        """Complete the request with an error."""
        if self._answer and not self._answer.done():
            self._answer.set_exception(error)
            # The caller may be cancelled right now. Retrieve the error, so that it is not logged.
            self._answer.exception()
