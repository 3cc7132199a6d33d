"""Indexes being built on OpenSearch, their builders, and the takeover of abandoned ones."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    NotFound,
    Overloaded,
    ScaarError,
)
from scaar.retriever.conditions import changed_concurrently
from scaar.retriever.opensearch.catalogue import Catalogue, StoredIndex
from scaar.retriever.opensearch.record import Builder, Record
from scaar.retriever.opensearch.schema import index_body
from scaar.retriever.opensearch.server import Server

LEASE_S = 60.0
"""Seconds without a renewal after which a builder on another machine counts as gone."""
_RENEWAL_INTERVAL_S = 15.0
_CREATE_TIMEOUT_S = 60.0
_INTERRUPTIONS = (
    asyncio.CancelledError,
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    Overloaded,
)
"""Errors after which a build can be resumed: caller or server are gone, or a disk is full."""


@dataclass(frozen=True, slots=True)
class PendingIndex:
    """An index being built."""

    stored: StoredIndex
    record: Record
    is_resumable: bool = False
    resumed: bool = False
    """Whether the index contains passages that an interrupted build has sent."""

    @property
    def token(self) -> str:
        """Token of the builder that owns the pending index."""
        assert self.record.builder
        return self.record.builder.token


class PendingIndexes:
    """Opens pending indexes. ``clock`` returns seconds since 1970."""

    def __init__(self, server: Server, catalogue: Catalogue, clock: Callable[[], float]) -> None:
        self._server, self._catalogue, self._clock = server, catalogue, clock
        self._active_tokens: set[str] = set()
        self._renewing: dict[str, tuple[asyncio.Event, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def open_build(self, spec: Record) -> AsyncIterator[PendingIndex]:
        """Open a pending index for a build, empty or left by an interrupted build of the same kind.

        If the build fails, the pending index is deleted. If the build is interrupted, because the
        caller or the server is gone, the pending index remains for the next build.
        """
        builder = self._builder()
        try:
            leftover = await self._take_over(spec)
            record = replace(spec, builder=builder)
            if leftover is None:
                index = self._catalogue.new_index(spec.name)
                body = index_body(
                    k1=spec.k1,
                    b=spec.b,
                    shards=spec.shards,
                    fields=spec.metadata_fields,
                    dense=spec.dense,
                    meta=record.meta(),
                )
                what = f"create the index {index}"
                await self._server.call(
                    self._server.client.indices.create,
                    what,
                    timeout_s=_CREATE_TIMEOUT_S,
                    index=index,
                    body=body,
                )
            else:
                index = leftover.index
                await self._catalogue.write_record(index, record)
            stored = StoredIndex(index, spec.name, record, has_alias=False)
            async with self._leased(
                PendingIndex(stored, record, is_resumable=True, resumed=leftover is not None)
            ) as pending:
                yield pending
        finally:
            self._active_tokens.discard(builder.token)

    @asynccontextmanager
    async def open_copy(self, base: StoredIndex, record: Record) -> AsyncIterator[PendingIndex]:
        """Open a pending index that is a copy of a complete index. Errors delete the copy."""
        builder = self._builder()
        try:
            await self._take_over(None, name=record.name)
            fresh = record.for_build(builder)
            index = self._catalogue.new_index(record.name)
            settings = {
                "index.blocks.write": None,
                "index.number_of_replicas": 0,
                "index.refresh_interval": "-1",
            }
            await self._server.call(
                self._server.client.indices.clone,
                f"copy {base.index}",
                timeout_s=_CREATE_TIMEOUT_S,
                index=base.index,
                target=index,
                body={"settings": settings},
            )
            try:
                await self._catalogue.write_record(index, fresh)
            except NotFound as error:
                # Until now the copy had no owner, so another builder deleted it as a leftover.
                raise changed_concurrently(record.name) from error
            stored = StoredIndex(index, record.name, fresh, has_alias=False)
            async with self._leased(PendingIndex(stored, fresh)) as pending:
                yield pending
        finally:
            self._active_tokens.discard(builder.token)

    async def check_ownership(self, pending: PendingIndex) -> None:
        """Validate that a pending index still belongs to its builder, and stop renewing its lease.

        Raises:
            Overloaded: another builder has taken over the pending index.
        """
        ended, renewing = self._renewing[pending.token]
        ended.set()
        await renewing
        if not await self._is_owned(pending):
            raise changed_concurrently(pending.record.name)

    def is_active(self, builder: Builder) -> bool:
        """Return whether the builder is still running."""
        if builder.host == socket.gethostname():
            if builder.pid == os.getpid():
                return builder.token in self._active_tokens
            if not _runs(builder.pid):
                return False
        return self._clock() - builder.renewed < LEASE_S

    async def _take_over(self, spec: Record | None, *, name: str = "") -> StoredIndex | None:
        """Return the leftover that a build of this kind can resume, and delete the others."""
        found = None
        for each in await self._catalogue.indexes_of(spec.name if spec else name):
            record = each.record
            if each.has_alias or record is None or record.builder is None:
                continue
            if self.is_active(record.builder):
                continue
            if replace(record, builder=None) == spec and found is None:
                found = each
            else:
                await self._catalogue.delete(each.index)
        if found:
            # An unreadable leftover may contain hours of work: raise, and delete nothing.
            await self._catalogue.count(found.index)
            refresh = self._server.client.indices.refresh
            what = f"refresh {found.index}"
            await self._server.call(refresh, what, timeout_s=_CREATE_TIMEOUT_S, index=found.index)
        return found

    @asynccontextmanager
    async def _leased(self, pending: PendingIndex) -> AsyncIterator[PendingIndex]:
        ended = asyncio.Event()
        renewing = asyncio.create_task(self._renew(pending, ended))
        self._renewing[pending.token] = ended, renewing
        try:
            yield pending
        except _INTERRUPTIONS:
            if not pending.is_resumable:
                await self._delete(pending)
            raise
        except Exception:
            await self._delete(pending)
            raise
        finally:
            del self._renewing[pending.token]
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _delete(self, pending: PendingIndex) -> None:
        with suppress(ScaarError):  # the next build deletes the leftover
            await self._catalogue.delete(pending.stored.index)

    async def _renew(self, pending: PendingIndex, ended: asyncio.Event) -> None:
        """Renew the builder's lease of the pending index periodically, until ``ended`` is set."""
        while not ended.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _RENEWAL_INTERVAL_S)
                return
            with suppress(ScaarError):
                if await self._is_owned(pending):
                    record = pending.record.renewed(self._clock())
                    await self._catalogue.write_record(pending.stored.index, record)

    async def _is_owned(self, pending: PendingIndex) -> bool:
        for each in await self._catalogue.indexes_of(pending.record.name):
            if each.index == pending.stored.index and each.record and each.record.builder:
                return each.record.builder.token == pending.token
        return False

    def _builder(self) -> Builder:
        token = secrets.token_hex(8)
        self._active_tokens.add(token)
        return Builder(socket.gethostname(), os.getpid(), token, self._clock())


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
