"""Retriever over files: indexes of bm25s and faiss, searched in threads."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_never

from scaar.core.errors import BackendUnavailable, DataCorrupt, NotFound, Overloaded, ScaarError
from scaar.core.plurals import are, counted
from scaar.core.search_stages import mode_of
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
    PassageInContext,
    PassageRequest,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.core.validation import check_index_name, validate_passage
from scaar.retriever.dense import ConfiguredEncoder, Encoder, no_default_encoder
from scaar.retriever.local.analysis import EnglishAnalyzer
from scaar.retriever.local.builds import IndexBuilds
from scaar.retriever.local.cache import IndexCache
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.local.listing import describe, list_descriptions, read_valid_manifest
from scaar.retriever.local.manifest import ReadCancelled
from scaar.retriever.local.recipes import check_recipe
from scaar.retriever.local.stored_passages import TextAnalysis
from scaar.retriever.local.verification import verify
from scaar.retriever.metadata import check_fields
from scaar.retriever.reranking.stage import Reranker, RerankingStage
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.validation import check_request
from scaar.retriever.workers import Workers

_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def _put(loop: asyncio.AbstractEventLoop, waiting: "asyncio.Queue[str]", name: str) -> None:
    """Put a name into a queue, from another thread."""
    with suppress(RuntimeError):  # the loop is closed, so there is no reader
        loop.call_soon_threadsafe(waiting.put_nowait, name)


class Bm25sRetriever:
    """A :class:`scaar.core.ports.Retriever` over the indexes of one folder."""

    def __init__(
        self,
        root: Path,
        settings: RetrieverSettings,
        *,
        encoder: Encoder | None = None,
        default_encoder: Callable[[str], Encoder | None] = no_default_encoder,
        reranker: Reranker | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._files = IndexFiles(root)
        configured_encoder = ConfiguredEncoder(encoder, default_encoder)
        self._analysis = TextAnalysis(EnglishAnalyzer(), configured_encoder)
        self._reranking = RerankingStage(reranker)
        self._preload = settings.preload
        self._max_concurrent, self._in_progress = settings.max_concurrent, 0
        self._cache = IndexCache(
            self._files, capacity=settings.open_indexes, checksums=settings.checksums
        )
        self._builds = IndexBuilds(self._files, self._analysis, settings, now)
        self._workers = Workers(settings.threads, "scaar-retrieve")
        # A thread of its own, so that reading a complete index does not delay searches.
        self._verify_workers = Workers(1, "scaar-verify")
        self._checksums, self._check_workers = settings.checksums, Workers(1, "scaar-check")

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        """Return at most ``top_k`` passages for each query, ties by passage id.

        Only passages that match all filters are returned, without the excluded ones; of a BM25
        index, only those with a score over 0, unless the request has ``score_all``.

        Raises:
            InvalidRequest: naming each invalid field and its limit.
            NotFound, DataCorrupt: the index is missing or damaged.
            CapabilityMissing: the index does not have the mode, was built with another encoder, or
                the retriever cannot rerank.
            Overloaded: too many requests are in progress.
        """
        check_request(request)
        if self._in_progress >= self._max_concurrent:
            count = counted(self._in_progress, "request")
            text = f"{count} {are(self._in_progress)} in progress, the maximum; try again"
            raise Overloaded(text)
        cancelled = threading.Event()
        self._in_progress += 1
        try:
            return await self._reranking.retrieve(
                request, lambda each: self._workers.run(self._search, each, cancelled)
            )
        finally:
            self._in_progress -= 1
            cancelled.set()

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        """Return a passage, and those beside it in the order of indexing.

        Raises:
            InvalidRequest: the name of the index or the id is invalid.
            NotFound, DataCorrupt: the index is missing or damaged, or the passage is missing.
        """
        validate_passage(request)
        check_index_name(request.index)
        return await self._workers.run(self._passage, request)

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        """Build an index, or rebuild an existing one with the passages.

        Searches use the old index until the new one is complete. An upsert keeps the index's k1 and
        b, or its vectors, and its declared fields; if no passage changes, it keeps the index.

        Raises:
            AlreadyExists: the index exists, and the mode is ``CREATE``.
            InvalidRequest: the name or a passage is invalid, an id is repeated, or there is no
                passage.
            DataCorrupt: the index to upsert is damaged.
            CapabilityMissing: the vectors need an encoder that the retriever does not have.
            Overloaded: another process kept changing the index to upsert.
        """
        check_index_name(index)
        fields = check_fields(metadata_fields)
        match mode:
            case IndexMode.CREATE | IndexMode.REPLACE:
                built = await self._builds.build(
                    index,
                    passages,
                    replace=mode is IndexMode.REPLACE,
                    fields=fields,
                    dense=dense,
                )
            case IndexMode.UPSERT:
                built = await self._builds.upsert(
                    index, passages, self._cache, fields=fields, dense=dense
                )
            case _:
                assert_never(mode)
        return replace(built, index=self._reranking.describe(built.index))

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        """Rebuild the index without the passages. Return how many of them it contained.

        Raises:
            InvalidRequest: no passage would remain. To delete all, drop the index.
        """
        check_index_name(index)
        return await self._builds.build_without(index, frozenset(passage_ids), self._cache)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Return every index, sorted by name. File sizes are compared with the manifest."""
        found = await self._workers.run(list_descriptions, self._files, self._cache)
        return tuple(map(self._reranking.describe, found))

    async def describe_index(self, index: str) -> IndexDescription:
        """Return the description of an index. File sizes are compared with the manifest."""
        check_index_name(index)
        await self._workers.run(self._cache.refuse_damaged, index)
        return self._reranking.describe(await self._workers.run(describe, self._files, index))

    async def verify_index(self, index: str) -> IndexVerification:
        """Verify every file, array and passage of an index against its manifest."""
        check_index_name(index)
        cancelled = threading.Event()
        try:
            return await self._verify_workers.run(verify, self._files, index, cancelled)
        finally:
            cancelled.set()

    async def drop_index(self, index: str) -> None:
        """Delete an index, damaged or not."""
        check_index_name(index)
        await self._workers.run(self._files.drop, index)

    async def check_indexes(self) -> Mapping[str, bool]:
        """Compare the file sizes of every index with its manifest. Return whether each is intact.

        Leftovers of killed builds are deleted first. A damaged index is logged with advice, and
        rejected. File contents are not read; see :meth:`checking`.
        """
        whole = {}
        try:
            await self._workers.run(self._files.remove_leftovers)
        except BackendUnavailable as error:
            _log.warning("leftovers of killed builds cannot be deleted: %s", error)
        for name in await self._workers.run(self._files.names):
            try:
                found = await self._workers.run(read_valid_manifest, self._files, name)
                await self._workers.run(check_recipe, name, found.recipe, self._analysis)
            except NotFound:
                continue  # dropped since its name was read
            except ScaarError as error:
                _log.error("%s", error)
                whole[name] = False
            else:
                whole[name] = True
        return whole

    @asynccontextmanager
    async def checking(
        self, names: Sequence[str], on_damaged: Callable[[str], None]
    ) -> AsyncIterator[None]:
        """Check indexes in the background during the block: these, and each that is opened.

        Searches do not wait for the checks. Each index is opened, and read completely if the
        setting ``checksums`` is enabled. A damaged index is logged, reported to ``on_damaged``,
        and rejected from then on.
        """
        loop, waiting, ended = asyncio.get_running_loop(), asyncio.Queue[str](), threading.Event()
        for name in names:
            waiting.put_nowait(name)

        async def check_on() -> None:
            while True:
                await self._check(await waiting.get(), on_damaged, ended)

        self._cache.check_later(lambda name: _put(loop, waiting, name))
        task = asyncio.create_task(check_on())
        try:
            yield
        finally:
            self._cache.check_later(None)
            ended.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _check(
        self, name: str, on_damaged: Callable[[str], None], ended: threading.Event
    ) -> None:
        try:
            await self._check_workers.run(self._cache.refuse_damaged, name)
        except DataCorrupt:
            return  # reported when it was found
        try:
            await self._check_workers.run(self._cache.get, name)
            if self._checksums:
                await self._check_workers.run(self._cache.verify, name, ended)
        except (NotFound, ReadCancelled):
            return  # dropped since its name was read, or the service is stopping
        except DataCorrupt as error:
            _log.error("%s", error)
            on_damaged(name)
        except ScaarError as error:
            _log.warning("the index %r cannot be checked: %s", name, error)

    async def preload(self) -> None:
        """Open the indexes to preload, so that a damaged one is reported now."""
        for name in self._preload:
            check_index_name(name)
            opened = await self._workers.run(self._cache.get, name)
            await self._workers.run(check_recipe, name, opened.manifest.recipe, self._analysis)

    def close(self) -> None:
        """Wait for work in progress. No further calls are allowed."""
        self._workers.close()
        self._verify_workers.close()
        self._check_workers.close()
        self._builds.close()

    def _search(self, request: RetrieveRequest, cancelled: threading.Event) -> RetrieveResult:
        index = self._cache.get(request.index)
        mode = mode_of(request, index.manifest.description())
        results: list[tuple[RetrievedPassage, ...]] = []
        found = index.found(request, mode, self._analysis)
        while not cancelled.is_set() and (each := next(found, None)) is not None:
            results.append(each)
        # The results may contain damage that was found meanwhile.
        self._cache.refuse_damaged(request.index)
        return RetrieveResult(request.index, index.manifest.version, tuple(results))

    def _passage(self, request: PassageRequest) -> PassageInContext:
        index = self._cache.get(request.index)
        row = index.row_of(request.id)
        if row is None:
            raise NotFound.of_passage(request.index, request.id)
        before = index.passage(row - 1) if row else None
        after = index.passage(row + 1) if row + 1 < index.manifest.passages else None
        found = PassageInContext.between(
            request.index, index.manifest.version, before, index.passage(row), after
        )
        self._cache.refuse_damaged(request.index)
        return found
