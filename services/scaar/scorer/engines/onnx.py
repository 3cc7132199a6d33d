"""Scorer that runs a model in ONNX Runtime, embedded in the process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Generic, Protocol

from scaar.core.defaults.text_kinds import kind_of_revision
from scaar.core.errors import NotFound
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.encoders.cross_encoder import open_cross_encoder
from scaar.encoders.pair_reader import Array, TokenPair
from scaar.scorer.engines.batched_request import BatchLimits, P
from scaar.scorer.engines.batcher import Batcher
from scaar.scorer.engines.bi_encoder import TextPair, open_bi_encoder
from scaar.scorer.engines.pairs import contributions_of, encode_requests
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.validation import check_requests


class Model(Protocol[P]):
    """An open model, which tokenizes pairs of texts and computes their similarity."""

    @property
    def name(self) -> str:
        """Name of the model's folder."""
        ...

    @property
    def revision(self) -> str:
        """Equal revisions give equal similarities."""
        ...

    @property
    def max_pair_tokens(self) -> int:
        """Maximum length of a pair, in tokens."""
        ...

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[P]:
        """Tokenize each pair without truncation."""
        ...

    def similarities(self, pairs: Sequence[P], *, width: int = 0) -> Array:
        """Return the similarity of each pair, at most 1."""
        ...


@asynccontextmanager
async def open_onnx_scorer(
    settings: ScorerSettings, *, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator["OnnxScorer[TokenPair]"]:
    """Open the cross-encoder of the settings; see :func:`open_scorer`."""
    async with _open_scorer(
        settings, open_cross_encoder, engine="onnx", observer=observer
    ) as scorer:
        yield scorer


@asynccontextmanager
async def open_bi_encoder_scorer(
    settings: ScorerSettings, *, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator["OnnxScorer[TextPair]"]:
    """Open the sentence encoder of the settings; see :func:`open_scorer`."""
    async with _open_scorer(
        settings, open_bi_encoder, engine="bi_encoder", observer=observer
    ) as scorer:
        yield scorer


class _ModelOpener(Protocol[P]):
    """Opens a model. Blocks while the files are read."""

    def __call__(self, folder: Path, *, threads: int) -> Model[P]: ...


@asynccontextmanager
async def _open_scorer(
    settings: ScorerSettings, open_model: _ModelOpener[P], *, engine: str, observer: ScorerObserver
) -> AsyncIterator["OnnxScorer[P]"]:
    if settings.model is None:
        raise NotFound(f"engine {engine} has no model: set SCAAR_SCORER_MODEL to its folder")
    folder = settings.model
    # A separate thread tokenizes texts, so that pairs accumulate while a batch is computed.
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

        def compute(bucket: int, pairs: Sequence[P]) -> Sequence[float]:
            found: list[float] = model.similarities(
                pairs, width=bucket if to_bucket else 0
            ).tolist()
            return found

        batcher = Batcher(compute, executor, limits, observer=observer)
        try:
            kind = kind_of_revision(model.revision) or settings.text_kind
            yield OnnxScorer(model, reader, batcher, engine=engine, text_kind=kind)
        finally:
            batcher.close()
    finally:
        for each in (reader, executor):
            await asyncio.to_thread(each.shutdown, cancel_futures=True)


class OnnxScorer(Generic[P]):
    """A :class:`~scaar.core.ports.ContributionScorer`; concurrent calls share its batches."""

    def __init__(
        self,
        model: Model[P],
        reader: Executor,
        batcher: Batcher[P],
        *,
        engine: str = "onnx",
        text_kind: str = "",
    ) -> None:
        self._model = model
        self._reader = reader
        self._engine = engine
        self._text_kind = text_kind
        self.batcher = batcher

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        """Return the contribution r of every word of every request, clamped to [0, 1].

        A question that is too long for the model is truncated at its front; see
        :func:`~scaar.scorer.engines.pairs.encode_pairs`.

        Raises:
            InvalidRequest: naming the invalid fields, before any work; or a sentence that is too
                long for the model.
            Overloaded: the queue of pairs would exceed its limit.
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
            text_kind=self._text_kind,
        )
