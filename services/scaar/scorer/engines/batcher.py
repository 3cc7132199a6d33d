"""Dynamic batching of the pairs of concurrent requests, by length.

An idle model starts immediately with the waiting pairs. Pairs that arrive during a batch form
the next one. The batcher knows only one blocking function of the model.
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

PAIRS_PER_TURN = 32
"""Number of pairs that a request contributes to a batch before the next request's turn."""

_RETRY_S = (0.1, 30.0)


Compute = Callable[[int, Sequence[P]], Sequence[float]]
"""Computes the similarity of each pair. All pairs are of the given bucket. Blocks."""

_Places = list[tuple[BatchedRequest[P], int]]


class Batcher(Generic[P]):
    """Computes pairs on an executor with at least ``limits.parallel`` free threads.

    Belongs to one event loop. Requests fill a batch in turns of :data:`PAIRS_PER_TURN`, so that a
    long request does not delay short ones; requests that contributed then move to the end of the
    queue. ``batches`` and ``computed_pairs`` count the work of the model.
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
        self._queue: deque[BatchedRequest[P]] = deque()
        self._in_progress = 0
        self._pair_s = 0.0
        self._closed = False

    @contextmanager
    def admitted(self, count: int) -> Iterator[BatchedRequest[P]]:
        """Admit a request of ``count`` pairs. Pairs that wait when the block ends are dropped.

        Raises:
            Overloaded: the queue would exceed its limit. The error has the time to retry after.
        """
        waiting = self.queued_pairs
        if waiting + count > self.limits.queued_pairs:
            raise Overloaded(
                f"{waiting} pairs are waiting, and {count} more would exceed the limit of "
                f"{self.limits.queued_pairs}; try again",
                retry_after_s=self._retry_after_s(),
            )
        request = BatchedRequest(count, self.limits, self._enqueue)
        self.queued_pairs += count
        try:
            yield request
        finally:
            self._drop(request)

    def close(self) -> None:
        """Fail every waiting request with BackendUnavailable, and start no more batches."""
        self._closed = True
        for request in tuple(self._queue):
            self._fail(request, _closed())

    def _enqueue(self, request: BatchedRequest[P]) -> None:
        if self._closed:
            self._fail(request, _closed())
            return
        self._queue.append(request)
        self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        while self._queue and self._in_progress < self.limits.parallel:
            bucket, batch = self._next_batch()
            self._in_progress += 1
            self.batches += 1
            self.computed_pairs += len(batch)
            self._observer.on_batch_started(len(batch))
            work = loop.run_in_executor(self._executor, self._compute, bucket, tuple(batch))
            work.add_done_callback(partial(self._finish, batch, loop.time()))

    def _next_batch(self) -> tuple[int, dict[P, _Places[P]]]:
        """Return the next batch, of the first request's bucket, with the places of each result."""
        bucket = self._queue[0].first_bucket()
        max_pairs = self.limits.pairs_of(bucket)
        batch: defaultdict[P, _Places[P]] = defaultdict(list)
        contributors: dict[BatchedRequest[P], None] = {}
        while len(batch) < max_pairs and (
            matching := [each for each in self._queue if each.has(bucket)]
        ):
            for request in matching:
                for _ in range(PAIRS_PER_TURN):
                    if len(batch) == max_pairs or not request.has(bucket):
                        break
                    place, pair = request.take(bucket)
                    self.queued_pairs -= 1
                    batch[pair].append((request, place))
                    contributors[request] = None
        self._observe_waits(contributors)
        waiting = [each for each in self._queue if each not in contributors]
        self._queue = deque([*waiting, *(each for each in contributors if each.queued_pairs)])
        return bucket, batch

    def _observe_waits(self, contributors: Iterable[BatchedRequest[P]]) -> None:
        """Report the waiting time of requests whose first pairs were taken."""
        now = asyncio.get_running_loop().time()
        for request in contributors:
            if request.enqueued_s is not None:
                self._observer.on_queue_wait(now - request.enqueued_s)
                request.enqueued_s = None

    def _finish(
        self,
        batch: dict[P, _Places[P]],
        started: float,
        work: asyncio.Future[Sequence[float]],
    ) -> None:
        self._in_progress -= 1
        self._pair_s = (asyncio.get_running_loop().time() - started) / len(batch)
        error = _closed() if work.cancelled() else work.exception()
        if error is None and len(work.result()) != len(batch):
            text = f"the model returned {len(work.result())} numbers for {len(batch)} pairs"
            error = ScaarError(text)
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
        if request in self._queue:
            self._queue.remove(request)

    def _retry_after_s(self) -> float:
        """Estimate the time until half of the queue is computed, from the last batch."""
        minimum, maximum = _RETRY_S
        if not self._pair_s:
            return 1.0
        half_s = self._pair_s * self.queued_pairs / self.limits.parallel / 2
        return min(maximum, max(minimum, half_s))


def _closed() -> BackendUnavailable:
    return BackendUnavailable("the scorer is closing")
