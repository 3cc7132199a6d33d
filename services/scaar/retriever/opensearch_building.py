"""Indexes on OpenSearch built, and changed, beside the one that is searched."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.types import DenseSettings, IndexDescription, IndexResult, Passage
from scaar.retriever.batches import batches_of
from scaar.retriever.conditions import already_exists
from scaar.retriever.dense import OwnEncoder, encode, encoded_text, kept_dense
from scaar.retriever.metadata import kept_fields
from scaar.retriever.opensearch_catalogue import Catalogue, Stored
from scaar.retriever.opensearch_content import Content
from scaar.retriever.opensearch_drafts import Draft, Drafts
from scaar.retriever.opensearch_errors import condition, kind_of
from scaar.retriever.opensearch_finish import Finish
from scaar.retriever.opensearch_loader import Loader
from scaar.retriever.opensearch_record import Record
from scaar.retriever.opensearch_schema import (
    delete_lines,
    document_id,
    index_lines,
    passage_of,
)
from scaar.retriever.opensearch_server import Server
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.validation import PassageIds
from scaar.retriever.workers import Workers

_READ_AT_ONCE = 1_000


class OpenSearchBuilding:
    """Builds the indexes of one catalogue; changes of one index go in turn."""

    def __init__(
        self,
        server: Server,
        catalogue: Catalogue,
        drafts: Drafts,
        finish: Finish,
        settings: RetrieverSettings,
        own_encoder: OwnEncoder,
    ) -> None:
        self._own_encoder = own_encoder
        self._server, self._catalogue = server, catalogue
        self._drafts, self._finish, self._settings = drafts, finish, settings
        self._limits = settings.build_limits
        self._changing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._workers = Workers(1, "scaar-index")

    async def build(
        self,
        name: str,
        passages: AsyncIterable[Passage],
        *,
        replace: bool,
        fields: tuple[str, ...],
        dense: DenseSettings | None,
    ) -> IndexResult:
        """Builds an index of the passages as they come, or goes on where a load was cut off.

        What such a load has sent already is read back, and neither encoded nor sent again.
        """
        plain = self._plain(name, fields, dense)
        if not replace and await self._catalogue.exists(name):
            raise already_exists(name)
        async with self._drafts.loading(plain) as draft, self._loader(draft) as loader:
            content, ids = Content(), PassageIds(fields)
            async with aclosing(batches_of(passages, self._limits)) as batches:
                async for batch in batches:
                    there = await self._there(draft, batch)
                    new = await self._workers.run(_taken, batch, there, content, ids)
                    lines = await self._workers.run(self._lines, plain, new)
                    await loader.put(lines)
            if not content.passages:
                raise InvalidRequest.of("passages", "must not be empty")
            await loader.finish()
            if draft.resumed:
                await self._finish.take_away_strays(draft, ids.positions, loader)
            built = await self._finish.commit(draft, content, over="*" if replace else None)
            return IndexResult(built, added=built.passages)

    async def upsert(
        self,
        name: str,
        passages: AsyncIterable[Passage],
        *,
        fields: tuple[str, ...],
        dense: DenseSettings | None,
    ) -> IndexResult:
        """Builds an index again with the passages."""
        async with self._changing[name]:
            try:
                base, record = await self._catalogue.open(name)
            except NotFound:
                return await self.build(name, passages, replace=False, fields=fields, dense=dense)
            if kept := kept_dense(name, record.dense, asked=dense):
                self._own_encoder.check(name, kept)
            declared = kept_fields(name, record.metadata_fields, declared=fields)
            content, ids = Content(record.content, record.passages), PassageIds(declared)
            async with self._drafts.changing(base, record) as draft, self._loader(draft) as loader:
                replaced = 0
                async with aclosing(batches_of(passages, self._limits)) as batches:
                    async for batch in batches:
                        there = await self._read(base.index, [each.id for each in batch])
                        new = await self._workers.run(_changed, batch, there, content, ids)
                        lines = await self._workers.run(self._lines, record, new)
                        replaced += len(there)
                        await loader.put(lines)
                if not ids.positions:
                    raise InvalidRequest.of("passages", "must not be empty")
                await loader.finish()
                built = await self._commit_change(base, record, draft, content)
        return IndexResult(built, added=len(ids.positions) - replaced, replaced=replaced)

    async def build_without(self, name: str, passage_ids: Sequence[str]) -> int:
        """Builds an index again without some passages; how many of them there were."""
        async with self._changing[name]:
            base, record = await self._catalogue.open(name)
            content, gone = Content(record.content, record.passages), []
            for passage in (await self._read(base.index, sorted(set(passage_ids)))).values():
                content.remove(passage)
                gone.append(delete_lines(passage.id))
            if not content.passages:
                drop = f"to drop the index: scaar index drop {name}"
                raise InvalidRequest.of("passage_ids", f"must leave a passage ({drop})")
            if gone:
                async with (
                    self._drafts.changing(base, record) as draft,
                    self._loader(draft) as loader,
                ):
                    await loader.put(gone)
                    await loader.finish()
                    await self._finish.commit(draft, content, over=base.index)
            return len(gone)

    def close(self) -> None:
        """Waits for the step in hand."""
        self._workers.close()

    async def _commit_change(
        self, base: Stored, record: Record, draft: Draft, content: Content
    ) -> IndexDescription:
        if content.total == record.content and content.passages == record.passages:
            await self._catalogue.delete(draft.stored.index)
            return record.description()
        return await self._finish.commit(draft, content, over=base.index)

    async def _there(self, draft: Draft, batch: Sequence[Passage]) -> Mapping[str, Passage]:
        """Those of the passages that the draft of a load that was cut off has already."""
        if not draft.resumed:
            return {}
        return await self._read(draft.stored.index, [each.id for each in batch])

    async def _read(self, index: str, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """Those of the passages that an index has."""
        found: dict[str, Passage] = {}
        what = f"read passages of {index}"
        for start in range(0, len(passage_ids), _READ_AT_ONCE):
            ids = passage_ids[start : start + _READ_AT_ONCE]
            # Half a surrogate pair is in no id; a passage with one is refused when it is taken in.
            whole = [each.encode(errors="replace").decode() for each in ids if each]
            if not whole:
                continue
            answer = await self._server.ask(
                self._server.client.mget,
                what,
                index=index,
                body={"ids": [document_id(each) for each in whole]},
                params={"realtime": "false"},
            )
            for each in answer["docs"]:
                if "error" in each:
                    raise condition(503, kind_of(each), what)
                if each["found"]:
                    passage = passage_of(each["_source"])
                    found[passage.id] = passage
        return found

    @asynccontextmanager
    async def _loader(self, draft: Draft) -> AsyncIterator[Loader]:
        loader = Loader(
            self._server,
            draft.stored.index,
            request_bytes=int(self._settings.opensearch_bulk_mb * 1_000_000),
            workers=self._settings.opensearch_bulk_workers,
        )
        try:
            yield loader
        finally:
            await loader.abandon()

    def _lines(self, record: Record, passages: Sequence[Passage]) -> list[bytes]:
        """The lines that put passages into an index, with their vectors where it is of these."""
        if record.dense is None:
            return [index_lines(each) for each in passages]
        encoder = self._own_encoder.check(record.name, record.dense)
        vectors = encode(encoder, [encoded_text(each) for each in passages])
        return [index_lines(each, vector) for each, vector in zip(passages, vectors, strict=True)]

    def _plain(self, name: str, fields: tuple[str, ...], dense: DenseSettings | None) -> Record:
        settings = self._settings
        made = self._own_encoder.describe(dense) if dense else None
        k1, b = (0.0, 0.0) if made else (settings.k1, settings.b)
        shards = settings.opensearch_shards
        return Record(name, k1, b, shards, metadata_fields=fields, dense=made)


def _taken(
    batch: Sequence[Passage], there: Mapping[str, Passage], content: Content, ids: PassageIds
) -> list[Passage]:
    """Takes passages of a new index in; those that are not there as they are."""
    new = []
    for passage in batch:
        ids.check(passage)
        content.add(passage)
        if there.get(passage.id) != passage:
            new.append(passage)
    return new


def _changed(
    batch: Sequence[Passage], there: Mapping[str, Passage], content: Content, ids: PassageIds
) -> list[Passage]:
    """Takes passages into an index that is there; those that change it."""
    new = []
    for passage in batch:
        ids.check(passage)
        old = there.get(passage.id)
        if old == passage:
            continue
        if old is not None:
            content.remove(old)
        content.add(passage)
        new.append(passage)
    return new
