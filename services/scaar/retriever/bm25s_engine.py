"""The retriever on files: indexes by bm25s and by faiss, searched in threads."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_never

from scaar.core.errors import BackendUnavailable, DataCorrupt, NotFound, Overloaded, ScaarError
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.retriever.analysis import EnglishAnalyzer
from scaar.retriever.dense import Encoder, OwnEncoder
from scaar.retriever.index_building import IndexBuilding
from scaar.retriever.index_cache import IndexCache
from scaar.retriever.index_files import IndexFiles
from scaar.retriever.index_listing import describe, list_descriptions, manifest_of_whole
from scaar.retriever.index_recipes import check_recipe
from scaar.retriever.index_verification import verify
from scaar.retriever.manifest import ReadingAbandoned
from scaar.retriever.metadata import check_fields
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.stored_passages import Reading
from scaar.retriever.validation import check_index_name, check_request
from scaar.retriever.workers import Workers

_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


def _put(loop: asyncio.AbstractEventLoop, waiting: "asyncio.Queue[str]", name: str) -> None:
    """Put a name into a queue, from another thread."""
    with suppress(RuntimeError):  # the loop is closed: nothing waits any more
        loop.call_soon_threadsafe(waiting.put_nowait, name)


class Bm25sRetriever:
    """A :class:`scaar.core.ports.Retriever` over the indexes of one folder."""

    def __init__(
        self,
        root: Path,
        settings: RetrieverSettings,
        *,
        encoder: Encoder | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._files = IndexFiles(root)
        self._reading = Reading(EnglishAnalyzer(), OwnEncoder(encoder))
        self._preload = settings.preload
        self._max_concurrent, self._under_way = settings.max_concurrent, 0
        self._cache = IndexCache(
            self._files, capacity=settings.open_indexes, checksums=settings.checksums
        )
        self._building = IndexBuilding(self._files, self._reading, settings, now)
        self._workers = Workers(settings.threads, "scaar-retrieve")
        # Of its own, one at a time: reading an index whole must not hold up searches.
        self._verifying = Workers(1, "scaar-verify")
        self._checksums, self._checking = settings.checksums, Workers(1, "scaar-check")

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        """At most ``top_k`` passages for each query, ties by passage id.

        Only those that fit all the filters; of an index of words those with a score over 0.

        Raises:
            InvalidRequest: naming each wrong field and its limit.
            NotFound, DataCorrupt: the index is not there, or is damaged.
            CapabilityMissing: its vectors are another encoder's.
            Overloaded: too many requests are under way.
        """
        check_request(request)
        if self._under_way >= self._max_concurrent:
            raise Overloaded(f"{self._under_way} requests are under way, the most that may be")
        abandoned = threading.Event()
        self._under_way += 1
        try:
            return await self._workers.run(self._search, request, abandoned)
        finally:
            self._under_way -= 1
            abandoned.set()

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        """Builds an index, or builds the one there is again with the passages.

        Searches see the old one until the new one is whole. An upsert keeps the old one's k1 and b,
        or its vectors, and its declared fields, and the index itself where nothing changes.

        Raises:
            AlreadyExists: there is an index of that name, and the mode is ``CREATE``.
            InvalidRequest: a wrong name or passage, an id seen before, or no passage at all.
            DataCorrupt: the index to upsert is damaged.
            CapabilityMissing: vectors take an encoder that the retriever has not.
            Overloaded: another process kept changing the index to upsert.
        """
        check_index_name(index)
        fields = check_fields(metadata_fields)
        match mode:
            case IndexMode.CREATE | IndexMode.REPLACE:
                replace = mode is IndexMode.REPLACE
                return await self._building.build(
                    index, passages, replace=replace, fields=fields, dense=dense
                )
            case IndexMode.UPSERT:
                return await self._building.upsert(
                    index, passages, self._cache, fields=fields, dense=dense
                )
            case _:
                assert_never(mode)

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        """Builds the index again without the passages; says how many of them were there.

        Raises:
            InvalidRequest: nothing would be left; an index is dropped as a whole.
        """
        check_index_name(index)
        return await self._building.build_without(index, frozenset(passage_ids), self._cache)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Every index by name; its files' sizes are compared with its manifest."""
        return await self._workers.run(list_descriptions, self._files, self._cache)

    async def describe_index(self, index: str) -> IndexDescription:
        """One index, its files' sizes compared with its manifest."""
        check_index_name(index)
        await self._workers.run(self._cache.refuse_damaged, index)
        return await self._workers.run(describe, self._files, index)

    async def verify_index(self, index: str) -> IndexVerification:
        """Every file, array and passage of an index, held against its manifest."""
        check_index_name(index)
        abandoned = threading.Event()
        try:
            return await self._verifying.run(verify, self._files, index, abandoned)
        finally:
            abandoned.set()

    async def drop_index(self, index: str) -> None:
        """Takes an index away, damaged or not."""
        check_index_name(index)
        await self._workers.run(self._files.drop, index)

    async def check_indexes(self) -> Mapping[str, bool]:
        """Compare every index's sizes with its manifest; whether each is whole, by name.

        Drafts of builds that were killed are removed first. A damaged index is logged, with what to
        do, and refused. Nothing is read whole: see :meth:`checking`.
        """
        whole = {}
        try:
            await self._workers.run(self._files.remove_leftovers)
        except BackendUnavailable as error:
            _log.warning("what killed builds have left stays: %s", error)
        for name in await self._workers.run(self._files.names):
            try:
                found = await self._workers.run(manifest_of_whole, self._files, name)
                check_recipe(name, found.recipe, self._reading)
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
        """Check indexes in the background while the block runs: these, and each that is opened.

        Searches do not wait for it. Each index is opened, and then read whole if ``checksums`` of
        the settings says so. A damaged one is logged, refused from then on, and reported.
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
            await self._checking.run(self._cache.refuse_damaged, name)
        except DataCorrupt:
            return  # reported when it was found
        try:
            await self._checking.run(self._cache.get, name)
            if self._checksums:
                await self._checking.run(self._cache.verify, name, ended)
        except (NotFound, ReadingAbandoned):
            return  # dropped since its name was read; or the service stops
        except DataCorrupt as error:
            _log.error("%s", error)
            on_damaged(name)
        except ScaarError as error:
            _log.warning("the index %r cannot be checked: %s", name, error)

    async def preload(self) -> None:
        """Opens the indexes that the settings name, so that a damaged one is found now."""
        for name in self._preload:
            check_index_name(name)
            opened = await self._workers.run(self._cache.get, name)
            check_recipe(name, opened.manifest.recipe, self._reading)

    def close(self) -> None:
        """Waits for the work in hand; no more may be asked for."""
        self._workers.close()
        self._verifying.close()
        self._checking.close()
        self._building.close()

    def _search(self, request: RetrieveRequest, abandoned: threading.Event) -> RetrieveResult:
        index = self._cache.get(request.index)
        among = index.fitting(request.filters)
        results: list[tuple[RetrievedPassage, ...]] = []
        found = index.found(request.queries, request.top_k, self._reading, among=among)
        while not abandoned.is_set() and (each := next(found, None)) is not None:
            results.append(each)
        # Damage that was found meanwhile may be in them.
        self._cache.refuse_damaged(request.index)
        return RetrieveResult(request.index, index.manifest.version, tuple(results))
