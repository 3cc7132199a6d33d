"""Contributions by a model in ONNX Runtime, embedded in the process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Generic, Protocol

from scaar.core.errors import NotFound
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.engines.batched_request import BatchLimits, P
from scaar.scorer.engines.batcher import Batcher
from scaar.scorer.engines.bi_encoder import TextPair, open_bi_encoder
from scaar.scorer.engines.cross_encoder import open_cross_encoder
from scaar.scorer.engines.pair_reader import Array, TokenPair
from scaar.scorer.engines.pairs import contributions_of, encode_requests
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.validation import check_requests


class Model(Protocol[P]):
    """An open model: what it reads of pairs of texts, and how alike it finds them."""

    @property
    def name(self) -> str:
        """The folder's name."""
        ...

    @property
    def revision(self) -> str:
        """Equal revisions give equal likenesses."""
        ...

    @property
    def max_pair_tokens(self) -> int:
        """The longest pair that it takes."""
        ...

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[P]:
        """What it reads of each pair, never cut."""
        ...

    def likeness(self, pairs: Sequence[P], *, width: int = 0) -> Array:
        """How alike each pair is; at most 1."""
        ...


@asynccontextmanager
async def open_onnx_scorer(
    settings: ScorerSettings, *, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator["OnnxScorer[TokenPair]"]:
    """A cross-encoder over the model folder of the settings; see :func:`open_scorer`."""
    opening = _open_scorer(settings, open_cross_encoder, engine="onnx", observer=observer)
    async with opening as scorer:
        yield scorer


@asynccontextmanager
async def open_bi_encoder_scorer(
    settings: ScorerSettings, *, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator["OnnxScorer[TextPair]"]:
    """A sentence encoder over the model folder of the settings; see :func:`open_scorer`."""
    opening = _open_scorer(settings, open_bi_encoder, engine="bi_encoder", observer=observer)
    async with opening as scorer:
        yield scorer


class _Open(Protocol[P]):
    """Opens a model; blocks while it reads the files."""

    def __call__(self, folder: Path, *, threads: int) -> Model[P]: ...


@asynccontextmanager
async def _open_scorer(
    settings: ScorerSettings, open_model: _Open[P], *, engine: str, observer: ScorerObserver
) -> AsyncIterator["OnnxScorer[P]"]:
    if settings.model is None:
        raise NotFound(f"no model is set for {engine}: SCAAR_SCORER_MODEL names its folder")
    folder = settings.model
    # A thread of its own reads texts into tokens, so that pairs gather while a batch is computed.
    reader = ThreadPoolExecutor(1, thread_name_prefix="scaar-scorer-reader")
    executor = ThreadPoolExecutor(settings.workers, thread_name_prefix="scaar-scorer")
    try:
        model = await asyncio.get_running_loop().run_in_executor(
            executor, lambda: open_model(folder, threads=settings.threads)
        )
        limits = BatchLimits(
            pair_tokens=model.max_pair_tokens,
            batch_pairs=settings.max_batch_pairs,
            queued_pairs=settings.max_queued_pairs,
            parallel=settings.workers,
        )

        to_bucket = settings.padding == "bucket"

        def likeness(bucket: int, pairs: Sequence[P]) -> Sequence[float]:
            found: list[float] = model.likeness(pairs, width=bucket if to_bucket else 0).tolist()
            return found

        batcher = Batcher(likeness, executor, limits, observer=observer)
        try:
            yield OnnxScorer(model, reader, batcher, engine=engine)
        finally:
            batcher.close()
    finally:
        for each in (reader, executor):
            await asyncio.to_thread(each.shutdown, cancel_futures=True)


class OnnxScorer(Generic[P]):
    """A :class:`~scaar.core.ports.ContributionScorer`; concurrent calls share its batches."""

    def __init__(
        self, model: Model[P], reader: Executor, batcher: Batcher[P], *, engine: str = "onnx"
    ) -> None:
        self._model = model
        self._reader = reader
        self._engine = engine
        self.batcher = batcher

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        """The contribution r of every word of every request, clamped to [0, 1].

        A question that is too long for the model is shortened from its front; see
        :func:`~scaar.scorer.engines.pairs.encode_pairs`.

        Raises:
            InvalidRequest: naming the wrong fields, before any work; or a sentence that is too
                long for the model.
            Overloaded: more pairs would wait than may.
        """
        check_requests(requests)
        with self.batcher.admitted(sum(len(request.words) for request in requests)) as admitted:
            pairs = await asyncio.get_running_loop().run_in_executor(
                self._reader, encode_requests, self._model, requests
            )
            return contributions_of(requests, await admitted.similarities(pairs))

    async def describe_model(self) -> ScorerDescription:
        return ScorerDescription(
            model=self._model.name,
            revision=self._model.revision,
            engine=self._engine,
            max_pair_tokens=self._model.max_pair_tokens,
        )
