"""Requests to Triton for the pairs of a call, grouped by length, with bounded concurrency."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence

from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.encoders.pair_reader import PairReader, TokenPair
from scaar.scorer.engines.batched_request import BatchLimits
from scaar.scorer.engines.triton_contract import ServedModel
from scaar.scorer.engines.triton_model import TritonModel
from scaar.wire.calls import timeout_within

MAX_REQUESTS_PER_CALL = 4
"""Maximum number of requests of a call that run or wait, so that long calls do not delay others."""


class TritonRequests:
    """Computes similarities on Triton, with at most ``limits.parallel`` concurrent requests.

    Requests are padded to their bucket, so that Triton can batch requests of different calls.
    """

    def __init__(
        self,
        model: TritonModel,
        reader: PairReader,
        limits: BatchLimits,
        *,
        timeout_s: float,
        observer: ScorerObserver = UNOBSERVED,
    ) -> None:
        self._model = model
        self._reader = reader
        self._limits = limits
        self._timeout_s = timeout_s
        self._observer = observer
        self._free = asyncio.Semaphore(limits.parallel)

    async def similarities(self, pairs: Sequence[TokenPair], served: ServedModel) -> list[float]:
        """Return the similarity of each pair. Equal pairs are computed once.

        If a request fails, or the caller is cancelled, the other requests are cancelled.
        """
        found: dict[TokenPair, float] = {}
        turn = asyncio.Semaphore(MAX_REQUESTS_PER_CALL)

        clock = asyncio.get_running_loop().time
        enqueued_s = clock()

        async def send(bucket: int, batch: Sequence[TokenPair]) -> None:
            async with turn, self._free:
                self._observer.on_queue_wait(clock() - enqueued_s)
                self._observer.on_batch_started(len(batch))
                found.update(zip(batch, await self._compute(bucket, batch, served), strict=True))

        tasks = [asyncio.create_task(send(*each)) for each in self._batches(pairs, served)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [found[pair] for pair in pairs]

    def _batches(
        self, pairs: Sequence[TokenPair], served: ServedModel
    ) -> Iterator[tuple[int, Sequence[TokenPair]]]:
        """Yield the distinct pairs in batches of one bucket, each with its bucket."""
        by_bucket: defaultdict[int, list[TokenPair]] = defaultdict(list)
        for pair in dict.fromkeys(pairs):
            by_bucket[self._limits.bucket_of(pair)].append(pair)
        max_pairs = min(self._limits.batch_pairs, served.max_batch_size)
        for bucket, grouped in by_bucket.items():
            for start in range(0, len(grouped), max_pairs):
                yield bucket, grouped[start : start + max_pairs]

    async def _compute(
        self, bucket: int, batch: Sequence[TokenPair], served: ServedModel
    ) -> list[float]:
        padded = self._reader.padded(batch, width=bucket)
        logits = await self._model.logits(
            {name: padded[name] for name in served.inputs},
            timeout_s=timeout_within(self._timeout_s, self._model.target),
        )
        similarity: list[float] = self._reader.similarities_of(logits, count=len(batch)).tolist()
        return similarity
