"""Builds, updates and deletions of passages of indexes on disk, in a thread of their own."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from datetime import datetime
from functools import partial
from typing import TypeVar

from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    InvalidRequest,
    NotFound,
    Overloaded,
)
from scaar.core.types import DenseSettings, IndexDescription, IndexResult, Passage
from scaar.retriever.batches import batches_of
from scaar.retriever.conditions import already_exists, changed_concurrently
from scaar.retriever.dense import unchanged_dense
from scaar.retriever.local.builder import IndexBuilder
from scaar.retriever.local.cache import IndexCache
from scaar.retriever.local.files import IndexFiles, PendingIndex
from scaar.retriever.local.incoming_passages import IncomingPassages
from scaar.retriever.local.manifest import Recipe
from scaar.retriever.local.recipes import check_recipe, recipe_of, searched_by
from scaar.retriever.local.stored_passages import StoredPassages, TextAnalysis
from scaar.retriever.metadata import unchanged_fields
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.workers import Workers
from scaar.runtime.disk import is_disk_full, size_text

_ATTEMPTS = 3
"""Maximum number of attempts at a change that conflicts with another process."""

Changed = TypeVar("Changed")


class IndexBuilds:
    """Builds the indexes of one root folder. All builds share one thread, in small steps."""

    def __init__(
        self,
        files: IndexFiles,
        analysis: TextAnalysis,
        settings: RetrieverSettings,
        now: Callable[[], datetime],
    ) -> None:
        self._files, self._analysis, self._now = files, analysis, now
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
        """Build an index from a stream of passages."""
        recipe = await self._workers.run(self._recipe, name, dense)
        if not replace and self._files.exists(name):
            raise already_exists(name)
        async with self._open_pending(name) as pending:
            builder = await self._workers.run(self._builder, pending, recipe, fields=fields)
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
        """Rebuild an index with the passages, once all of them have arrived."""
        try:
            stored = (await self._workers.run(cache.get_verified, name)).manifest
        except NotFound:
            recipe = await self._workers.run(self._recipe, name, dense)
        else:
            fields = unchanged_fields(name, stored.metadata_fields, declared=fields)
            unchanged_dense(name, stored.dense, requested=dense)
            recipe = stored.recipe
            await self._workers.run(check_recipe, name, recipe, self._analysis)
        async with self._open_pending(name) as pending:
            incoming = await self._workers.run(IncomingPassages, pending.files, fields)
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
        """Rebuild an index without some passages. Return how many of them it contained."""
        await self._workers.run(cache.get_verified, name)  # fail early on a damaged index
        return await self._change(name, partial(self._leave_out, ids, cache))

    def close(self) -> None:
        """Wait for the current step."""
        self._workers.close()

    async def _change(self, name: str, change: Callable[[PendingIndex], Changed]) -> Changed:
        """Change an index and return the result. Repeat the change if another process was faster.

        Within one process, the single thread serializes changes.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            async with self._open_pending(name) as pending:
                try:
                    return await self._workers.run(change, pending)
                except Overloaded:
                    if attempt == _ATTEMPTS:
                        raise
        raise AssertionError("the last attempt returns or raises")

    def _recipe(self, name: str, dense: DenseSettings | None) -> Recipe:
        return recipe_of(name, dense, self._analysis, k1=self._k1, b=self._b)

    def _finish(self, builder: IndexBuilder, over: str | None) -> IndexDescription:
        created = self._now().isoformat(timespec="seconds").replace("+00:00", "Z")
        manifest = builder.finish(created)
        self._files.commit(builder.pending, manifest, over=over)
        return manifest.description()

    def _builder(
        self,
        pending: PendingIndex,
        recipe: Recipe,
        *,
        fields: Sequence[str],
        old: StoredPassages | None = None,
    ) -> IndexBuilder:
        by = searched_by(pending, recipe, self._analysis, old=old)
        return IndexBuilder(pending, recipe, by, fields=fields)

    def _merge(
        self, incoming: IncomingPassages, recipe: Recipe, cache: IndexCache, pending: PendingIndex
    ) -> IndexResult:
        try:
            index = cache.get_verified(pending.name)
        except NotFound:
            index = None
        old = index.manifest if index else None
        fields = incoming.fields
        if old and (old.metadata_fields, old.recipe) != (fields, recipe):
            raise changed_concurrently(pending.name)
        with closing(self._builder(pending, recipe, fields=fields, old=index)) as builder:
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
            raise changed_concurrently(builder.pending.name) from error

    def _leave_out(self, ids: frozenset[str], cache: IndexCache, pending: PendingIndex) -> int:
        index = cache.get_verified(pending.name)
        old = index.manifest
        with closing(
            self._builder(pending, old.recipe, fields=old.metadata_fields, old=index)
        ) as builder:
            builder.add(passage for passage in index.passages() if passage.id not in ids)
            if not builder.passages:
                drop = f"to drop the index: scaar index drop {pending.name}"
                raise InvalidRequest.of("passage_ids", f"must leave a passage ({drop})")
            if builder.passages < old.passages:
                self._finish(builder, old.folder)
            return old.passages - builder.passages

    @asynccontextmanager
    async def _open_pending(self, name: str) -> AsyncIterator[PendingIndex]:
        """Open a pending index, which is deleted after the block unless committed."""
        pending = await self._workers.run(self._files.open_pending, name)
        try:
            yield pending
        except BackendUnavailable as error:
            if not is_disk_full(error.__cause__):
                raise
            raise self._disk_full(pending) from error
        finally:
            # The single thread runs this after the step that a cancelled caller left running.
            await self._workers.run(self._files.discard, pending)

    def _disk_full(self, pending: PendingIndex) -> BackendUnavailable:
        """Return the error of a build on a full disk, with the folder and the required space."""
        written = sum(each.stat().st_size for each in pending.path.rglob("*") if each.is_file())
        needed = f"{pending.name!r} needs more than {size_text(written)}"
        text = f"the disk of the indexes is full: {needed}"
        detail = (
            f"free space on the disk of {self._files.root}, or set SCAAR_RETRIEVER_INDEXES to a "
            "folder on another disk"
        )
        return BackendUnavailable(text, detail=detail)
