"""The retriever on OpenSearch: indexes of a server, searched with BM25 or by vectors."""

import logging
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
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
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.retriever.conditions import not_found, unreadable
from scaar.retriever.dense import Encoder, OwnEncoder
from scaar.retriever.metadata import check_fields
from scaar.retriever.opensearch_building import OpenSearchBuilding
from scaar.retriever.opensearch_catalogue import Catalogue
from scaar.retriever.opensearch_drafts import Drafts
from scaar.retriever.opensearch_finish import Finish
from scaar.retriever.opensearch_record import ENGINE
from scaar.retriever.opensearch_search import OpenSearchSearch
from scaar.retriever.opensearch_server import Server
from scaar.retriever.opensearch_verification import Verification
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.validation import check_index_name, check_request

_log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


class OpenSearchRetriever:
    """A :class:`scaar.core.ports.Retriever` over the indexes of an OpenSearch server."""

    def __init__(
        self,
        server: Server,
        settings: RetrieverSettings,
        *,
        encoder: Encoder | None = None,
        now: Callable[[], datetime] = utc_now,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._own_encoder = OwnEncoder(encoder)
        self._catalogue = Catalogue(server, settings.opensearch_prefix)
        self._drafts = Drafts(server, self._catalogue, clock)
        self._searches = OpenSearchSearch(server, self._catalogue, own_encoder=self._own_encoder)
        finish = Finish(
            server,
            self._catalogue,
            self._drafts,
            replicas=settings.opensearch_replicas,
            now=now,
        )
        self._building = OpenSearchBuilding(
            server, self._catalogue, self._drafts, finish, settings, self._own_encoder
        )
        self._verification = Verification(server, self._catalogue)
        self._preload = settings.preload
        self._max_concurrent, self._under_way = settings.max_concurrent, 0

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        """At most ``top_k`` passages for each query, ties by passage id.

        Only those that fit all the filters; of an index of words those with a score over 0.

        Raises:
            InvalidRequest: naming each wrong field and its limit.
            NotFound, DataCorrupt: the index is not there, or is damaged.
            Overloaded: too many requests are under way, here or on the server.
            BackendUnavailable, DeadlineExceeded: the server does not answer, or not in time.
        """
        check_request(request)
        if self._under_way >= self._max_concurrent:
            raise Overloaded(f"{self._under_way} requests are under way, the most that may be")
        self._under_way += 1
        try:
            return await self._searches.search(request)
        finally:
            self._under_way -= 1

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

        Searches see the old one until the new one is whole. A load that was cut off goes on where
        it was when the same index is built again. An upsert keeps the old one's k1, b and declared
        fields, and the index itself where nothing changes.

        Raises:
            AlreadyExists: there is an index of that name, and the mode is ``CREATE``.
            InvalidRequest: a wrong name or passage, an id seen before, or no passage at all.
            DataCorrupt: the index to upsert is damaged, or took in another number of passages.
            Overloaded: another process changed the index to upsert, or the server has no room.
        """
        check_index_name(index)
        fields = check_fields(metadata_fields)
        match mode:
            case IndexMode.CREATE | IndexMode.REPLACE:
                replace = mode is IndexMode.REPLACE
                built = await self._building.build(
                    index, passages, replace=replace, fields=fields, dense=dense
                )
            case IndexMode.UPSERT:
                built = await self._building.upsert(index, passages, fields=fields, dense=dense)
            case _:
                assert_never(mode)
        self._searches.forget(index)
        return built

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        """Builds the index again without the passages; says how many of them were there.

        Raises:
            InvalidRequest: nothing would be left; an index is dropped as a whole.
        """
        check_index_name(index)
        deleted = await self._building.build_without(index, passage_ids)
        self._searches.forget(index)
        return deleted

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Every index by name, its passages counted; of a damaged one, what is wrong."""
        there = {each.name: each for each in await self._catalogue.all_of("*") if each.has_alias}
        found = []
        for name, stored in sorted(there.items()):
            record = stored.record
            told = record.description() if record else unreadable(name, ENGINE)
            try:
                told = (await self._catalogue.open(name))[1].description()
            except NotFound:
                continue  # dropped since its name was read
            except DataCorrupt as error:
                told = replace(told, damage=error.metadata["damage"])
            except (BackendUnavailable, CapabilityMissing) as error:
                told = replace(told, damage=error.message)
            found.append(told)
        return tuple(found)

    async def describe_index(self, index: str) -> IndexDescription:
        """One index, its passages counted."""
        check_index_name(index)
        _, record = await self._catalogue.open(index)
        return record.description()

    async def verify_index(self, index: str) -> IndexVerification:
        """Every passage of an index, and how it is laid out, held against its record."""
        check_index_name(index)
        return await self._verification.verify(index)

    async def drop_index(self, index: str) -> None:
        """Takes an index away, damaged or not, and what loads of it have left."""
        check_index_name(index)
        self._searches.forget(index)
        gone = 0
        for each in await self._catalogue.all_of(index):
            builder = each.record.builder if each.record else None
            if each.has_alias or not (builder and self._drafts.is_held(builder)):
                await self._catalogue.delete(each.index)
                gone += 1
        if not gone:
            raise not_found(index, await self._catalogue.names())

    async def check_indexes(self) -> Mapping[str, bool]:
        """Whether each index holds what it says, by name; one that does not is told to the log."""
        whole = {}
        for name in await self._catalogue.names():
            try:
                _, record = await self._catalogue.open(name)
                if record.dense:
                    self._own_encoder.check(name, record.dense)
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
        """Check nothing: OpenSearch itself compares the checksums of what it reads."""
        yield

    async def preload(self) -> None:
        """Looks up the indexes that the settings name, so that a damaged one is found now."""
        for name in self._preload:
            await self.describe_index(name)

    def close(self) -> None:
        """Waits for the work in hand; no more may be asked for."""
        self._building.close()
        self._searches.close()
