"""Builds and changes of indexes on OpenSearch, each beside the index that is searched."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.types import DenseSettings, IndexDescription, IndexResult, Passage
from scaar.retriever.batches import batches_of
from scaar.retriever.conditions import already_exists
from scaar.retriever.dense import ConfiguredEncoder, encode, encoded_text, unchanged_dense
from scaar.retriever.metadata import unchanged_fields
from scaar.retriever.opensearch.catalogue import Catalogue, StoredIndex
from scaar.retriever.opensearch.completion import BuildCompletion
from scaar.retriever.opensearch.content import Content
from scaar.retriever.opensearch.loader import Loader
from scaar.retriever.opensearch.pending import PendingIndex, PendingIndexes
from scaar.retriever.opensearch.reading import read_passages
from scaar.retriever.opensearch.record import Record
from scaar.retriever.opensearch.schema import (
    delete_lines,
    has_words,
    index_lines,
)
from scaar.retriever.opensearch.server import Server
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.validation import PassageValidator
from scaar.retriever.workers import Workers


class OpenSearchBuilds:
    """Builds the indexes of one catalogue. Changes of one index are serialized."""

    def __init__(
        self,
        server: Server,
        catalogue: Catalogue,
        pending: PendingIndexes,
        completion: BuildCompletion,
        settings: RetrieverSettings,
        configured_encoder: ConfiguredEncoder,
    ) -> None:
        self._configured_encoder = configured_encoder
        self._server, self._catalogue = server, catalogue
        self._pending, self._completion, self._settings = pending, completion, settings
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
        """Build an index from a stream of passages, or resume an interrupted build.

        Passages that the interrupted build has sent are read back, and neither encoded nor sent
        again.
        """
        spec = await self._workers.run(self._new_record, name, fields, dense)
        if not replace and await self._catalogue.exists(name):
            raise already_exists(name)
        async with self._pending.open_build(spec) as pending, self._loader(pending) as loader:
            content, ids = Content(), PassageValidator(fields)
            async with aclosing(batches_of(passages, self._limits)) as batches:
                async for batch in batches:
                    there = await self._there(pending, batch)
                    new = await self._workers.run(_new_passages, batch, there, content, ids)
                    lines = await self._workers.run(self._lines, spec, new)
                    await loader.put(lines)
            if not content.passages:
                raise InvalidRequest.of("passages", "must not be empty")
            await loader.finish()
            if pending.resumed:
                await self._completion.delete_stale_passages(pending, ids.positions, loader)
            built = await self._completion.commit(pending, content, over="*" if replace else None)
            return IndexResult(built, added=built.passages)

    async def upsert(
        self,
        name: str,
        passages: AsyncIterable[Passage],
        *,
        fields: tuple[str, ...],
        dense: DenseSettings | None,
    ) -> IndexResult:
        """Rebuild an index with the passages."""
        async with self._changing[name]:
            try:
                base, record = await self._catalogue.open(name)
            except NotFound:
                return await self.build(name, passages, replace=False, fields=fields, dense=dense)
            if existing := unchanged_dense(name, record.dense, requested=dense):
                await self._workers.run(self._configured_encoder.check, name, existing)
            declared = unchanged_fields(name, record.metadata_fields, declared=fields)
            content, ids = Content(record.content, record.passages), PassageValidator(declared)
            async with (
                self._pending.open_copy(base, record) as pending,
                self._loader(pending) as loader,
            ):
                replaced = 0
                async with aclosing(batches_of(passages, self._limits)) as batches:
                    async for batch in batches:
                        there = await read_passages(
                            self._server, base.index, [each.id for each in batch]
                        )
                        new = await self._workers.run(_changed_passages, batch, there, content, ids)
                        lines = await self._workers.run(self._lines, record, new)
                        replaced += len(there)
                        await loader.put(lines)
                if not ids.positions:
                    raise InvalidRequest.of("passages", "must not be empty")
                await loader.finish()
                built = await self._commit_change(base, record, pending, content)
        return IndexResult(built, added=len(ids.positions) - replaced, replaced=replaced)

    async def build_without(self, name: str, passage_ids: Sequence[str]) -> int:
        """Rebuild an index without some passages. Return how many of them it contained."""
        async with self._changing[name]:
            base, record = await self._catalogue.open(name)
            content, gone = Content(record.content, record.passages), []
            gone_passages = await read_passages(self._server, base.index, sorted(set(passage_ids)))
            for passage in gone_passages.values():
                content.remove(passage)
                gone.append(delete_lines(passage.id))
            if not content.passages:
                drop = f"to drop the index: scaar index drop {name}"
                raise InvalidRequest.of("passage_ids", f"must leave a passage ({drop})")
            if gone:
                async with (
                    self._pending.open_copy(base, record) as pending,
                    self._loader(pending) as loader,
                ):
                    await loader.put(gone)
                    await loader.finish()
                    await self._completion.commit(pending, content, over=base.index)
            return len(gone)

    def close(self) -> None:
        """Wait for the current step."""
        self._workers.close()

    async def _commit_change(
        self, base: StoredIndex, record: Record, pending: PendingIndex, content: Content
    ) -> IndexDescription:
        if content.total == record.content and content.passages == record.passages:
            await self._catalogue.delete(pending.stored.index)
            return record.description()
        return await self._completion.commit(pending, content, over=base.index)

    async def _there(
        self, pending: PendingIndex, batch: Sequence[Passage]
    ) -> Mapping[str, Passage]:
        """Return the passages of the batch that an interrupted build has already sent."""
        if not pending.resumed:
            return {}
        return await read_passages(self._server, pending.stored.index, [each.id for each in batch])

    @asynccontextmanager
    async def _loader(self, pending: PendingIndex) -> AsyncIterator[Loader]:
        loader = Loader(
            self._server,
            pending.stored.index,
            request_bytes=int(self._settings.opensearch_bulk_mb * 1_000_000),
            workers=self._settings.opensearch_bulk_workers,
        )
        try:
            yield loader
        finally:
            await loader.cancel()

    def _lines(self, record: Record, passages: Sequence[Passage]) -> list[bytes]:
        """Return the bulk lines that index passages, with vectors for a vector index."""
        if record.dense is None:
            return [index_lines(each) for each in passages]
        encoder = self._configured_encoder.check(record.name, record.dense)
        vectors = encode(encoder, [encoded_text(each) for each in passages])
        return [index_lines(each, vector) for each, vector in zip(passages, vectors, strict=True)]

    def _new_record(
        self, name: str, fields: tuple[str, ...], dense: DenseSettings | None
    ) -> Record:
        settings = self._settings
        made = self._configured_encoder.describe(name, dense) if dense else None
        k1, b = (settings.k1, settings.b) if has_words(made) else (0.0, 0.0)
        shards = settings.opensearch_shards
        return Record(name, k1, b, shards, metadata_fields=fields, dense=made)


def _new_passages(
    batch: Sequence[Passage], there: Mapping[str, Passage], content: Content, ids: PassageValidator
) -> list[Passage]:
    """Add passages to the content of a new index. Return those that must be sent."""
    new = []
    for passage in batch:
        ids.check(passage)
        content.add(passage)
        if there.get(passage.id) != passage:
            new.append(passage)
    return new


def _changed_passages(
    batch: Sequence[Passage], there: Mapping[str, Passage], content: Content, ids: PassageValidator
) -> list[Passage]:
    """Add passages to the content of an existing index. Return those that change the index."""
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
