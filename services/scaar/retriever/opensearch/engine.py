"""Retriever over OpenSearch: indexes of a server, searched with BM25 or by vectors."""

import asyncio
import dataclasses
import logging
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import assert_never

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DataCorrupt,
    NotFound,
    Overloaded,
    ScaarError,
)
from scaar.core.plurals import are, counted
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
    PassageInContext,
    PassageRequest,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.core.validation import check_index_name, validate_passage
from scaar.retriever.conditions import not_found, unreadable
from scaar.retriever.dense import ConfiguredEncoder, Encoder, no_default_encoder
from scaar.retriever.metadata import check_fields
from scaar.retriever.opensearch.builds import OpenSearchBuilds
from scaar.retriever.opensearch.catalogue import Catalogue
from scaar.retriever.opensearch.completion import BuildCompletion
from scaar.retriever.opensearch.pending import PendingIndexes
from scaar.retriever.opensearch.record import ENGINE
from scaar.retriever.opensearch.search import OpenSearchSearch
from scaar.retriever.opensearch.server import Server
from scaar.retriever.opensearch.verification import Verification
from scaar.retriever.reranking.stage import Reranker, RerankingStage
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.validation import check_request

_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


class OpenSearchRetriever:
    """A :class:`scaar.core.ports.Retriever` over the indexes of an OpenSearch server."""

    def __init__(
        self,
        server: Server,
        settings: RetrieverSettings,
        *,
        encoder: Encoder | None = None,
        default_encoder: Callable[[str], Encoder | None] = no_default_encoder,
        reranker: Reranker | None = None,
        now: Callable[[], datetime] = utc_now,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._configured_encoder = ConfiguredEncoder(encoder, default_encoder)
        self._catalogue = Catalogue(server, settings.opensearch_prefix)
        self._pending = PendingIndexes(server, self._catalogue, clock)
        self._searches = OpenSearchSearch(
            server, self._catalogue, configured_encoder=self._configured_encoder
        )
        completion = BuildCompletion(
            server,
            self._catalogue,
            self._pending,
            replicas=settings.opensearch_replicas,
            now=now,
        )
        self._builds = OpenSearchBuilds(
            server, self._catalogue, self._pending, completion, settings, self._configured_encoder
        )
        self._verification = Verification(server, self._catalogue)
        self._reranking = RerankingStage(reranker)
        self._preload = settings.preload
        self._max_concurrent, self._in_progress = settings.max_concurrent, 0

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        """Return at most ``top_k`` passages for each query, ties by passage id.

        Only passages that match all filters are returned, without the excluded ones; of a BM25
        index, only those with a score over 0.

        Raises:
            InvalidRequest: naming each invalid field and its limit.
            NotFound, DataCorrupt: the index is missing or damaged.
            CapabilityMissing: the index does not have the mode, was built with another encoder, or
                the retriever cannot rerank.
            Overloaded: too many requests are in progress, here or on the server.
            BackendUnavailable, DeadlineExceeded: the server does not respond, or not in time.
        """
        check_request(request)
        if self._in_progress >= self._max_concurrent:
            count = counted(self._in_progress, "request")
            text = f"{count} {are(self._in_progress)} in progress, the maximum; try again"
            raise Overloaded(text)
        self._in_progress += 1
        try:
            return await self._reranking.retrieve(request, self._searches.search)
        finally:
            self._in_progress -= 1

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        """Return a passage, without neighbours: the server keeps no order of passages.

        Raises:
            InvalidRequest: the name of the index or the id is invalid.
            NotFound, DataCorrupt: the index is missing or damaged, or the passage is missing.
            BackendUnavailable, DeadlineExceeded: the server does not respond, or not in time.
        """
        validate_passage(request)
        check_index_name(request.index)
        return await self._searches.passage(request)

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

        Searches use the old index until the new one is complete. An interrupted build is resumed
        when the same index is built again. An upsert keeps the index's k1, b and declared fields;
        if no passage changes, it keeps the index.

        Raises:
            AlreadyExists: the index exists, and the mode is ``CREATE``.
            InvalidRequest: the name or a passage is invalid, an id is repeated, or there is no
                passage.
            DataCorrupt: the index to upsert is damaged, or the new index has another number of
                passages than were sent.
            Overloaded: another process changed the index to upsert, or the server is overloaded.
        """
        check_index_name(index)
        fields = check_fields(metadata_fields)
        match mode:
            case IndexMode.CREATE | IndexMode.REPLACE:
                replace = mode is IndexMode.REPLACE
                built = await self._builds.build(
                    index, passages, replace=replace, fields=fields, dense=dense
                )
            case IndexMode.UPSERT:
                built = await self._builds.upsert(index, passages, fields=fields, dense=dense)
            case _:
                assert_never(mode)
        self._searches.forget(index)
        return dataclasses.replace(built, index=self._reranking.describe(built.index))

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        """Rebuild the index without the passages. Return how many of them it contained.

        Raises:
            InvalidRequest: no passage would remain. To delete all, drop the index.
        """
        check_index_name(index)
        deleted = await self._builds.build_without(index, passage_ids)
        self._searches.forget(index)
        return deleted

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Return every index, sorted by name, with its passages counted and any damage."""
        indexes = await self._catalogue.indexes_of("*")
        published = {each.name: each for each in indexes if each.has_alias}
        found = []
        for name, stored in sorted(published.items()):
            record = stored.record
            description = record.description() if record else unreadable(name, ENGINE)
            try:
                description = (await self._catalogue.open(name))[1].description()
            except NotFound:
                continue  # dropped since its name was read
            except DataCorrupt as error:
                description = dataclasses.replace(description, damage=error.metadata["damage"])
            except (BackendUnavailable, CapabilityMissing) as error:
                description = dataclasses.replace(description, damage=error.message)
            found.append(self._reranking.describe(description))
        return tuple(found)

    async def describe_index(self, index: str) -> IndexDescription:
        """Return the description of an index, with its passages counted."""
        check_index_name(index)
        _, record = await self._catalogue.open(index)
        return self._reranking.describe(record.description())

    async def verify_index(self, index: str) -> IndexVerification:
        """Verify every passage and the layout of an index against its record."""
        check_index_name(index)
        return await self._verification.verify(index)

    async def drop_index(self, index: str) -> None:
        """Delete an index, damaged or not, and the leftovers of its builds."""
        check_index_name(index)
        self._searches.forget(index)
        gone = 0
        for each in await self._catalogue.indexes_of(index):
            builder = each.record.builder if each.record else None
            if each.has_alias or not (builder and self._pending.is_active(builder)):
                await self._catalogue.delete(each.index)
                gone += 1
        if not gone:
            raise not_found(index, await self._catalogue.names())

    async def check_indexes(self) -> Mapping[str, bool]:
        """Return whether each index is intact, by name. Damaged ones are logged."""
        whole = {}
        for name in await self._catalogue.names():
            try:
                _, record = await self._catalogue.open(name)
                if record.dense:
                    await asyncio.to_thread(self._configured_encoder.check, name, record.dense)
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
        """Check nothing, since OpenSearch verifies the checksums of its files itself."""
        yield

    async def preload(self) -> None:
        """Look up the indexes to preload, so that a damaged one is reported now."""
        for name in self._preload:
            await self.describe_index(name)

    def close(self) -> None:
        """Wait for work in progress. No further calls are allowed."""
        self._builds.close()
        self._searches.close()
