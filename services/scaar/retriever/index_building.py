"""Indexes built, and built again with other passages, in a thread of its own."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from datetime import datetime
from functools import partial
from typing import TypeVar

from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound, Overloaded
from scaar.core.types import DenseSettings, IndexDescription, IndexResult, Passage
from scaar.retriever.batches import batches_of
from scaar.retriever.conditions import already_exists, changed_meanwhile
from scaar.retriever.dense import kept_dense
from scaar.retriever.incoming import IncomingPassages
from scaar.retriever.index_builder import IndexBuilder
from scaar.retriever.index_cache import IndexCache
from scaar.retriever.index_files import Draft, IndexFiles
from scaar.retriever.index_recipes import check_recipe, recipe_of, searched_by
from scaar.retriever.manifest import Recipe
from scaar.retriever.metadata import kept_fields
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.stored_passages import Reading, StoredPassages
from scaar.retriever.workers import Workers

_ATTEMPTS = 3
"""How often a change begins anew because another process was faster."""

Changed = TypeVar("Changed")


class IndexBuilding:
    """Builds the indexes of one root folder, one at a time in small steps."""

    def __init__(
        self,
        files: IndexFiles,
        reading: Reading,
        settings: RetrieverSettings,
        now: Callable[[], datetime],
    ) -> None:
        self._files, self._reading, self._now = files, reading, now
        self._k1, self._b = settings.k1, settings.b
        self._limits = settings.build_limits
        self._workers = Workers(1, "scaar-index")

    async def build(
        self,
        name: str,
        passages: AsyncIterable[Passage],
        *,
        replace: bool,
        fields: Sequence[str],
        dense: DenseSettings | None,
    ) -> IndexResult:
        """Builds an index of the passages as they come."""
        recipe = recipe_of(dense, self._reading, k1=self._k1, b=self._b)
        if not replace and self._files.exists(name):
            raise already_exists(name)
        async with self._draft(name) as draft:
            builder = await self._workers.run(self._builder, draft, recipe, fields=fields)
            try:
                async with aclosing(batches_of(passages, self._limits)) as batches:
                    async for batch in batches:
                        await self._workers.run(builder.add, batch)
                over = "*" if replace else None
                built = await self._workers.run(self._finish, builder, over)
                return IndexResult(built, added=built.passages)
            finally:
                await self._workers.run(builder.close)

    async def upsert(
        self,
        name: str,
        passages: AsyncIterable[Passage],
        cache: IndexCache,
        *,
        fields: Sequence[str],
        dense: DenseSettings | None,
    ) -> IndexResult:
        """Builds an index again with the passages, once all of them have come."""
        try:
            there = (await self._workers.run(cache.get_verified, name)).manifest
        except NotFound:
            recipe = recipe_of(dense, self._reading, k1=self._k1, b=self._b)
        else:
            fields = kept_fields(name, there.metadata_fields, declared=fields)
            kept_dense(name, there.dense, asked=dense)
            recipe = there.recipe
            check_recipe(name, recipe, self._reading)
        async with self._draft(name) as draft:
            incoming = await self._workers.run(IncomingPassages, draft.files, fields)
            try:
                async with aclosing(batches_of(passages, self._limits)) as batches:
                    async for batch in batches:
                        await self._workers.run(incoming.add, batch)
                if not incoming:
                    raise InvalidRequest.of("passages", "must not be empty")
                return await self._change(name, partial(self._merge, incoming, recipe, cache))
            finally:
                await self._workers.run(incoming.close)

    async def build_without(self, name: str, ids: frozenset[str], cache: IndexCache) -> int:
        """Builds an index again without some passages; how many of them there were."""
        await self._workers.run(cache.get_verified, name)  # nothing is begun on what cannot be read
        return await self._change(name, partial(self._leave_out, ids, cache))

    def close(self) -> None:
        """Waits for the step in hand."""
        self._workers.close()

    async def _change(self, name: str, change: Callable[[Draft], Changed]) -> Changed:
        """What the change of an index gives; it is made anew when another was faster.

        In one process the thread takes changes in turn.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            async with self._draft(name) as draft:
                try:
                    return await self._workers.run(change, draft)
                except Overloaded:
                    if attempt == _ATTEMPTS:
                        raise
        raise AssertionError("the last attempt returns or raises")

    def _finish(self, builder: IndexBuilder, over: str | None) -> IndexDescription:
        created = self._now().isoformat(timespec="seconds").replace("+00:00", "Z")
        manifest = builder.finish(created)
        self._files.commit(builder.draft, manifest, over=over)
        return manifest.description()

    def _builder(
        self,
        draft: Draft,
        recipe: Recipe,
        *,
        fields: Sequence[str],
        old: StoredPassages | None = None,
    ) -> IndexBuilder:
        by = searched_by(draft, recipe, self._reading, old=old)
        return IndexBuilder(draft, recipe, by, fields=fields)

    def _merge(
        self, incoming: IncomingPassages, recipe: Recipe, cache: IndexCache, draft: Draft
    ) -> IndexResult:
        try:
            index = cache.get_verified(draft.name)
        except NotFound:
            index = None
        old = index.manifest if index else None
        fields = incoming.fields
        if old and (old.metadata_fields, old.recipe) != (fields, recipe):
            raise changed_meanwhile(draft.name)
        with closing(self._builder(draft, recipe, fields=fields, old=index)) as builder:
            builder.add(incoming.merged(index.passages() if index else ()))
            added = builder.passages - (old.passages if old else 0)
            if old and old.version == builder.version:
                merged = old.description()
            else:
                merged = self._finish_change(builder, old.folder if old else None)
        return IndexResult(merged, added=added, replaced=len(incoming) - added)

    def _finish_change(self, builder: IndexBuilder, over: str | None) -> IndexDescription:
        try:
            return self._finish(builder, over)
        except (AlreadyExists, NotFound) as error:
            raise changed_meanwhile(builder.draft.name) from error

    def _leave_out(self, ids: frozenset[str], cache: IndexCache, draft: Draft) -> int:
        index = cache.get_verified(draft.name)
        old = index.manifest
        with closing(
            self._builder(draft, old.recipe, fields=old.metadata_fields, old=index)
        ) as builder:
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
