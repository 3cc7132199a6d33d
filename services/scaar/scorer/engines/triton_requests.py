"""The pairs of one call as requests to Triton: like lengths together, so many at a time."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence

from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.scorer.engines.batched_request import BatchLimits
from scaar.scorer.engines.pair_reader import PairReader, TokenPair
from scaar.scorer.engines.triton_contract import ServedModel
from scaar.scorer.engines.triton_model import TritonModel
from scaar.wire.calls import timeout_within

TURN_REQUESTS = 4
"""Requests of one call under way or in line, so that a long call keeps no short one waiting."""


class TritonRequests:
    """Asks a model for likenesses, at most ``limits.parallel`` requests at a time.

    Every request is as wide as its bucket, so that Triton merges those of different calls.
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

    async def likeness(self, pairs: Sequence[TokenPair], served: ServedModel) -> list[float]:
        """The likeness of each pair; equal pairs are asked for once.

        Where one request fails, or the await is left, the others are ended.
        """
        found: dict[TokenPair, float] = {}
        turn = asyncio.Semaphore(TURN_REQUESTS)

        clock = asyncio.get_running_loop().time
        asked_s = clock()

        async def ask(bucket: int, batch: Sequence[TokenPair]) -> None:
            async with turn, self._free:
                self._observer.pairs_waited(clock() - asked_s)
                self._observer.batch_begun(len(batch))
                found.update(zip(batch, await self._ask(bucket, batch, served), strict=True))

        tasks = [asyncio.create_task(ask(*each)) for each in self._batches(pairs, served)]
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
        """The different pairs, each batch of one bucket, which is given first."""
        by_bucket: defaultdict[int, list[TokenPair]] = defaultdict(list)
        for pair in dict.fromkeys(pairs):
            by_bucket[self._limits.bucket_of(pair)].append(pair)
        most = min(self._limits.batch_pairs, served.max_batch_size)
        for bucket, alike in by_bucket.items():
            for start in range(0, len(alike), most):
                yield bucket, alike[start : start + most]

    async def _ask(
        self, bucket: int, batch: Sequence[TokenPair], served: ServedModel
    ) -> list[float]:
        padded = self._reader.padded(batch, width=bucket)
        logits = await self._model.logits(
            {name: padded[name] for name in served.inputs},
            timeout_s=timeout_within(self._timeout_s, self._model.target),
        )
        likeness: list[float] = self._reader.likeness_of(logits, count=len(batch)).tolist()
        return likeness
