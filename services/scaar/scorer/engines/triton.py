"""Scorer that calls a cross-encoder on a Triton server and tokenizes texts itself."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager

from grpc import ChannelCredentials

from scaar.core.defaults.text_kinds import kind_of_revision
from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
)
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.encoders.checkpoint import read_checkpoint
from scaar.encoders.pair_reader import PairReader, build_pair_reader
from scaar.scorer.engines.batched_request import BatchLimits
from scaar.scorer.engines.pairs import contributions_of, encode_requests
from scaar.scorer.engines.triton_model import TritonModel, open_triton_model
from scaar.scorer.engines.triton_requests import TritonRequests
from scaar.scorer.engines.triton_tls import read_credentials
from scaar.scorer.engines.triton_watch import TritonWatch, watch_model
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.validation import check_requests
from scaar.wire.calls import timeout_within


@asynccontextmanager
async def open_triton_scorer(
    settings: ScorerSettings, *, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator["TritonScorer"]:
    """Open the scorer over the Triton server of the settings; see :func:`open_scorer`.

    The server may start later. Until it responds, calls raise BackendUnavailable.

    Raises:
        InvalidRequest: no server is set, or a file in the settings cannot be used.
        NotFound: no model folder is set, or a file in it is missing.
        CapabilityMissing: the server does not have the model, or has an incompatible one; or a
            certificate is rejected.
    """
    folder = settings.model
    if settings.triton_target is None:
        text = "must be the address of the Triton server, dns:///host:8001, for the engine triton"
        raise InvalidRequest.of("SCAAR_SCORER_TRITON_TARGET", text)
    if folder is None:
        raise NotFound("engine triton has no model: set SCAAR_SCORER_MODEL to its folder")
    with ThreadPoolExecutor(1, thread_name_prefix="scaar-scorer-reader") as executor:

        def read() -> tuple[PairReader, str, ChannelCredentials | None]:
            credentials = read_credentials(settings)
            checkpoint = read_checkpoint(folder, weights=False)
            digest = hashlib.sha256(checkpoint.tokenizer.read_bytes()).hexdigest()
            return build_pair_reader(checkpoint), digest, credentials

        loop = asyncio.get_running_loop()
        reader, digest, credentials = await loop.run_in_executor(executor, read)
        async with (
            open_triton_model(
                settings.triton_target, settings.triton_model, credentials=credentials
            ) as model,
            watch_model(model, tokenizer_sha256=digest) as watch,
        ):
            yield TritonScorer(model, watch, reader, executor, settings, observer=observer)


class TritonScorer:
    """A :class:`~scaar.core.ports.ContributionScorer`. Triton batches concurrent requests."""

    def __init__(
        self,
        model: TritonModel,
        watch: TritonWatch,
        reader: PairReader,
        executor: Executor,
        settings: ScorerSettings,
        *,
        observer: ScorerObserver = UNOBSERVED,
    ) -> None:
        self._model = model
        self._watch = watch
        self._reader = reader
        self._executor = executor
        self._text_kind = settings.text_kind
        self._timeout_s = settings.triton_timeout_s
        self._max_queued = settings.max_queued_pairs
        limits = BatchLimits(
            pair_tokens=reader.max_pair_tokens,
            batch_pairs=settings.max_batch_pairs,
            queued_pairs=settings.max_queued_pairs,
            parallel=settings.triton_requests,
        )
        self._requests = TritonRequests(
            model, reader, limits, timeout_s=self._timeout_s, observer=observer
        )
        self.queued_pairs = 0

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        """Return the contribution r of every word of every request, clamped to [0, 1].

        A question that is too long for the model is truncated at its front; see
        :func:`~scaar.scorer.engines.pairs.encode_pairs`.

        Raises:
            InvalidRequest: naming the invalid fields, before any work; or a sentence that is too
                long for the model.
            Overloaded: too many pairs are in progress, or Triton's queue is full.
            DeadlineExceeded: the deadline of the call or the maximum duration has expired.
            BackendUnavailable: the server does not respond.
            CapabilityMissing: the model of the server is no longer compatible.
        """
        check_requests(requests)
        served = self._watch.served()
        limit = asyncio.timeout(timeout_within(self._timeout_s, self._model.target))
        try:
            with self._admitted(sum(len(request.words) for request in requests)):
                async with limit:
                    pairs = await asyncio.get_running_loop().run_in_executor(
                        self._executor, encode_requests, self._reader, requests
                    )
                    similarity = await self._requests.similarities(pairs, served)
                    return contributions_of(requests, similarity)
        except (BackendUnavailable, CapabilityMissing) as error:
            # The server may return with another model.
            self._watch.invalidate(error)
            raise
        except TimeoutError as error:
            if not limit.expired():
                raise
            target = self._model.target
            raise DeadlineExceeded(f"{target} did not respond in time", target=target) from error

    async def describe_model(self) -> ScorerDescription:
        revision = self._watch.served().revision
        return ScorerDescription(
            model=self._reader.name,
            revision=revision,
            engine="triton",
            max_pair_tokens=self._reader.max_pair_tokens,
            text_kind=kind_of_revision(revision) or self._text_kind,
        )

    @contextmanager
    def _admitted(self, count: int) -> Iterator[None]:
        """Count ``count`` pairs as in progress until the block ends."""
        if self.queued_pairs + count > self._max_queued:
            raise Overloaded(
                f"{self.queued_pairs} pairs are in progress, and {count} more would exceed the "
                f"limit of {self._max_queued}; try again"
            )
        self.queued_pairs += count
        try:
            yield
        finally:
            self.queued_pairs -= count
