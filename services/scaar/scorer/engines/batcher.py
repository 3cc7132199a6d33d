"""The pairs of concurrent requests, computed together in batches of like length.

No time is waited for others to come: an idle model takes what is there, and what arrives while it
computes gathers for the next batch. Knows nothing of the model but one blocking function.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import Generic

from scaar.core.errors import BackendUnavailable, Overloaded, ScaarError
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.scorer.engines.batched_request import BatchedRequest, BatchLimits, P

TURN_PAIRS = 32
"""What a request gives to a batch before the next one has its turn."""

_RETRY_S = (0.1, 30.0)


Compute = Callable[[int, Sequence[P]], Sequence[float]]
"""The similarity of each pair, all of one bucket, which is given first. It blocks."""

_Places = list[tuple[BatchedRequest[P], int]]


class Batcher(Generic[P]):
    """Computes pairs on an executor that has ``limits.parallel`` threads free for it.

    Lives in one event loop. A batch is filled by turns of :data:`TURN_PAIRS`, so that a long
    request keeps no short one waiting; requests that gave to it stand at the end of the line
    afterwards. ``batches`` and ``computed_pairs`` count what was handed to the model.
    """

    def __init__(
        self,
        compute: Compute[P],
        executor: Executor,
        limits: BatchLimits,
        *,
        observer: ScorerObserver = UNOBSERVED,
    ) -> None:
        self.limits = limits
        self._observer = observer
        self.queued_pairs = 0
        self.batches = 0
        self.computed_pairs = 0
        self._compute = compute
        self._executor = executor
        self._line: deque[BatchedRequest[P]] = deque()
        self._under_way = 0
        self._pair_s = 0.0
        self._closed = False

    @contextmanager
    def admitted(self, count: int) -> Iterator[BatchedRequest[P]]:
        """Room for ``count`` pairs; those that still wait when the block ends are dropped.

        Raises:
            Overloaded: more pairs would wait than may; says when there may be room.
        """
        waiting = self.queued_pairs
        if waiting + count > self.limits.queued_pairs:
            raise Overloaded(
                f"{waiting} pairs wait, and {count} more would pass the limit of "
                f"{self.limits.queued_pairs}",
                retry_after_s=self._retry_after_s(),
            )
        request = BatchedRequest(count, self.limits, self._enqueue)
        self.queued_pairs += count
        try:
            yield request
        finally:
            self._drop(request)

    def close(self) -> None:
        """Ends every wait with BackendUnavailable; starts no batch any more."""
        self._closed = True
        for request in tuple(self._line):
            self._fail(request, _closed())

    def _enqueue(self, request: BatchedRequest[P]) -> None:
        if self._closed:
            self._fail(request, _closed())
            return
        self._line.append(request)
        self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        while self._line and self._under_way < self.limits.parallel:
            bucket, batch = self._next_batch()
            self._under_way += 1
            self.batches += 1
            self.computed_pairs += len(batch)
            self._observer.batch_begun(len(batch))
            work = loop.run_in_executor(self._executor, self._compute, bucket, tuple(batch))
            work.add_done_callback(partial(self._finish, batch, loop.time()))

    def _next_batch(self) -> tuple[int, dict[P, _Places[P]]]:
        """Pairs of the bucket that the first in line waits for, with whom to give each answer."""
        most, bucket = self.limits.batch_pairs, self._line[0].first_bucket()
        batch: defaultdict[P, _Places[P]] = defaultdict(list)
        gave: dict[BatchedRequest[P], None] = {}
        while len(batch) < most and (able := [each for each in self._line if each.has(bucket)]):
            for request in able:
                for _ in range(TURN_PAIRS):
                    if len(batch) == most or not request.has(bucket):
                        break
                    place, pair = request.take(bucket)
                    self.queued_pairs -= 1
                    batch[pair].append((request, place))
                    gave[request] = None
        self._tell_waits(gave)
        waiting = [each for each in self._line if each not in gave]
        self._line = deque([*waiting, *(each for each in gave if each.queued_pairs)])
        return bucket, batch

    def _tell_waits(self, gave: Iterable[BatchedRequest[P]]) -> None:
        """How long those waited whose first pairs are taken."""
        now = asyncio.get_running_loop().time()
        for request in gave:
            if request.enqueued_s is not None:
                self._observer.pairs_waited(now - request.enqueued_s)
                request.enqueued_s = None

    def _finish(
        self,
        batch: dict[P, _Places[P]],
        started: float,
        work: asyncio.Future[Sequence[float]],
    ) -> None:
        self._under_way -= 1
        self._pair_s = (asyncio.get_running_loop().time() - started) / len(batch)
        error = _closed() if work.cancelled() else work.exception()
        if error is None and len(work.result()) != len(batch):
            error = ScaarError(f"the model gave {len(work.result())} numbers for {len(batch)}")
        if error is None:
            for similarity, places in zip(work.result(), batch.values(), strict=True):
                for request, place in places:
                    request.answer(place, similarity)
        else:
            for request in {request for places in batch.values() for request, _ in places}:
                self._fail(request, error)
        if not self._closed:
            self._start()

    def _fail(self, request: BatchedRequest[P], error: BaseException) -> None:
        self._drop(request)
        request.fail(error)

    def _drop(self, request: BatchedRequest[P]) -> None:
        self.queued_pairs -= request.queued_pairs
        request.drop()
        if request in self._line:
            self._line.remove(request)

    def _retry_after_s(self) -> float:
        """When half of what waits is computed, by the pace of the last batch."""
        least, most = _RETRY_S
        if not self._pair_s:
            return 1.0
        return min(most, max(least, self._pair_s * self.queued_pairs / self.limits.parallel / 2))


def _closed() -> BackendUnavailable:
    return BackendUnavailable("the scorer is closing")
