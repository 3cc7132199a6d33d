"""Contributions by a cross-encoder in ONNX Runtime, embedded in the process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar

from tokenizers import Encoding

from scaar.core.errors import NotFound, Overloaded
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.engines.cross_encoder import CrossEncoder, open_cross_encoder
from scaar.scorer.engines.pairs import encode_pairs
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.validation import check_requests

_T = TypeVar("_T")


@asynccontextmanager
async def open_onnx_scorer(settings: ScorerSettings) -> AsyncIterator["OnnxScorer"]:
    """The scorer over the model folder of the settings; see :func:`open_scorer`."""
    if settings.model is None:
        raise NotFound("no cross-encoder is set: SCAAR_SCORER_MODEL names its folder")
    folder = settings.model
    executor = ThreadPoolExecutor(settings.workers, thread_name_prefix="scaar-scorer")
    try:
        model = await asyncio.get_running_loop().run_in_executor(
            executor, lambda: open_cross_encoder(folder, threads=settings.threads)
        )
        yield OnnxScorer(model, executor, settings)
    finally:
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)


class OnnxScorer:
    """A :class:`~scaar.core.ports.ContributionScorer` whose batches run on an executor."""

    def __init__(
        self, model: CrossEncoder, executor: ThreadPoolExecutor, settings: ScorerSettings
    ) -> None:
        self._model = model
        self._executor = executor
        self._settings = settings
        self._running = 0

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        """The contribution r of every word of every request, clamped to [0, 1].

        All pairs of the call are batched together. A question that is too long for the model is
        shortened from its front; see :func:`~scaar.scorer.engines.pairs.encode_pairs`.

        Raises:
            InvalidRequest: naming the wrong fields, before any work; or a sentence that is too
                long for the model.
            Overloaded: as many calls are under way as may be.
        """
        check_requests(requests)
        with self._admitted():
            pairs = await self._run(lambda: self._encode(requests))
            scores = iter(await self._score(pairs))
        return tuple(tuple(next(scores) for _ in request.words) for request in requests)

    async def describe_model(self) -> ScorerDescription:
        return ScorerDescription(
            model=self._model.name,
            revision=self._model.revision,
            engine="onnx",
            max_pair_tokens=self._model.max_pair_tokens,
        )

    def _encode(self, requests: Sequence[ScoreRequest]) -> list[Encoding]:
        return [
            pair
            for number, request in enumerate(requests)
            for pair in encode_pairs(self._model, request, field=f"sentences[{number}].words")
        ]

    async def _score(self, pairs: list[Encoding]) -> list[float]:
        """The contribution by each pair; pairs of like length share a batch."""
        order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
        scores = [0.0] * len(pairs)
        for start in range(0, len(order), self._settings.max_pairs):
            batch = order[start : start + self._settings.max_pairs]
            work = partial(self._model.likeness, [pairs[at] for at in batch])
            likeness = await self._run(work)
            for at, alike in zip(batch, likeness.tolist(), strict=True):
                scores[at] = min(1.0, max(0.0, 1.0 - alike))
        return scores

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        if self._running >= self._settings.max_concurrent:
            raise Overloaded(f"{self._running} calls are under way, the most there may be")
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)
