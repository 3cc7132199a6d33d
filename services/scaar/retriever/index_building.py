"""Indexes built, built again without some passages, and put in place, in a thread of its own."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, closing
from datetime import datetime

from scaar.core.errors import InvalidRequest, Overloaded
from scaar.core.types import IndexDescription, Passage
from scaar.retriever.analysis import EnglishAnalyzer
from scaar.retriever.index_builder import IndexBuilder
from scaar.retriever.index_cache import IndexCache
from scaar.retriever.index_files import Draft, IndexFiles, already_exists
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.workers import Workers

_BATCH_PASSAGES, _BATCH_CHARACTERS = 512, 4_000_000
_DELETION_ATTEMPTS = 3


class IndexBuilding:
    """Builds the indexes of one root folder, one at a time in small steps."""

    def __init__(
        self,
        files: IndexFiles,
        analyzer: EnglishAnalyzer,
        settings: RetrieverSettings,
        now: Callable[[], datetime],
    ) -> None:
        self._files, self._analyzer, self._now = files, analyzer, now
        self._k1, self._b = settings.k1, settings.b
        self._workers = Workers(1, "scaar-index")

    async def build(
        self, name: str, passages: AsyncIterable[Passage], *, replace: bool
    ) -> IndexDescription:
        """Builds an index of the passages as they come."""
        if not replace and self._files.exists(name):
            raise already_exists(name)
        async with self._draft(name) as draft:
            builder = await self._workers.run(
                IndexBuilder, draft, self._analyzer, k1=self._k1, b=self._b
            )
            try:
                async with aclosing(_batches(passages)) as batches:
                    async for batch in batches:
                        await self._workers.run(builder.add, batch)
                return await self._workers.run(self._finish, builder, "*" if replace else None)
            finally:
                await self._workers.run(builder.close)

    async def build_without(self, name: str, ids: frozenset[str], cache: IndexCache) -> int:
        """Builds an index again without some passages; how many of them there were."""
        await self._workers.run(cache.get, name)  # nothing is begun on what cannot be read
        for attempt in range(1, _DELETION_ATTEMPTS + 1):
            async with self._draft(name) as draft:
                try:
                    return await self._workers.run(self._leave_out, draft, ids, cache)
                except Overloaded:
                    if attempt == _DELETION_ATTEMPTS:
                        raise
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Waits for the step in hand."""
        self._workers.close()

    def _finish(self, builder: IndexBuilder, over: str | None) -> IndexDescription:
        created = self._now().isoformat(timespec="seconds").replace("+00:00", "Z")
        manifest = builder.finish(created)
        self._files.commit(builder.draft, manifest, over=over)
        return manifest.description()

    def _leave_out(self, draft: Draft, ids: frozenset[str], cache: IndexCache) -> int:
        index = cache.get(draft.name)
        old = index.manifest
        with closing(IndexBuilder(draft, self._analyzer, k1=old.k1, b=old.b)) as builder:
            builder.add(passage for passage in index.passages() if passage.id not in ids)
            if not builder.passages:
                drop = f"to drop the index: scaar index drop {draft.name}"
                raise InvalidRequest.of("passage_ids", f"must leave a passage ({drop})")
            if builder.passages < old.passages:
                self._finish(builder, old.folder)
            return old.passages - builder.passages

    @asynccontextmanager
    async def _draft(self, name: str) -> AsyncIterator[Draft]:
        """A draft, taken away again unless it was committed."""
        draft = await self._workers.run(self._files.open_draft, name)
        try:
            yield draft
        finally:
            # The one thread takes this after the step in hand, which a cancelled caller left.
            await self._workers.run(self._files.discard, draft)


async def _batches(passages: AsyncIterable[Passage]) -> AsyncGenerator[list[Passage], None]:
    batch: list[Passage] = []
    characters = 0
    async for passage in passages:
        batch.append(passage)
        characters += len(passage.title) + len(passage.text)
        if len(batch) >= _BATCH_PASSAGES or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    yield batch
