"""Indexes being built on OpenSearch: who holds them, and what becomes of those nobody holds."""

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
from scaar.retriever.conditions import changed_meanwhile
from scaar.retriever.opensearch_catalogue import Catalogue, Stored
from scaar.retriever.opensearch_record import Builder, Record
from scaar.retriever.opensearch_schema import index_body
from scaar.retriever.opensearch_server import Server

LEASE_S = 60.0
"""A builder on another machine that was not seen for so long is gone."""
_RENEWED_EVERY_S = 15.0
_MAKE_S = 60.0
_CUT_OFF = (
    asyncio.CancelledError,
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    Overloaded,
)
"""How a load ends that may go on: the caller went away, or the server, or its disk is full."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An index being built."""

    stored: Stored
    record: Record
    may_be_resumed: bool = False
    resumed: bool = False
    """It holds what an earlier load, cut off, has sent."""

    @property
    def token(self) -> str:
        """Whose it is."""
        assert self.record.builder
        return self.record.builder.token


class Drafts:
    """Opens drafts. ``clock`` gives seconds since 1970."""

    def __init__(self, server: Server, catalogue: Catalogue, clock: Callable[[], float]) -> None:
        self._server, self._catalogue, self._clock = server, catalogue, clock
        self._held: set[str] = set()
        self._renewing: dict[str, tuple[asyncio.Event, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def loading(self, plain: Record) -> AsyncIterator[Draft]:
        """A draft to load, empty or one that a load of the same kind has left.

        A load that ends by an error of its own leaves nothing; one that is cut off (the caller or
        the server went away) leaves the draft for the next.
        """
        builder = self._builder()
        try:
            left = await self._leftover(plain)
            record = replace(plain, builder=builder)
            if left is None:
                index = self._catalogue.new_index(plain.name)
                body = index_body(
                    k1=plain.k1,
                    b=plain.b,
                    shards=plain.shards,
                    fields=plain.metadata_fields,
                    dense=plain.dense,
                    meta=record.meta(),
                )
                what = f"make the index {index}"
                await self._server.ask(
                    self._server.client.indices.create,
                    what,
                    timeout_s=_MAKE_S,
                    index=index,
                    body=body,
                )
            else:
                index = left.index
                await self._catalogue.write_record(index, record)
            stored = Stored(index, plain.name, record, has_alias=False)
            async with self._kept(
                Draft(stored, record, may_be_resumed=True, resumed=left is not None)
            ) as draft:
                yield draft
        finally:
            self._held.discard(builder.token)

    @asynccontextmanager
    async def changing(self, base: Stored, record: Record) -> AsyncIterator[Draft]:
        """A draft that begins as a copy of a whole index; nothing of it is left by an error."""
        builder = self._builder()
        try:
            await self._leftover(None, name=record.name)
            fresh = record.plain(builder)
            index = self._catalogue.new_index(record.name)
            settings = {
                "index.blocks.write": None,
                "index.number_of_replicas": 0,
                "index.refresh_interval": "-1",
            }
            await self._server.ask(
                self._server.client.indices.clone,
                f"copy {base.index}",
                timeout_s=_MAKE_S,
                index=base.index,
                target=index,
                body={"settings": settings},
            )
            try:
                await self._catalogue.write_record(index, fresh)
            except NotFound as error:
                # Until now it was nobody's: another that builds took it for a leftover.
                raise changed_meanwhile(record.name) from error
            stored = Stored(index, record.name, fresh, has_alias=False)
            async with self._kept(Draft(stored, fresh)) as draft:
                yield draft
        finally:
            self._held.discard(builder.token)

    async def check_held(self, draft: Draft) -> None:
        """Passes a draft that is still its builder's, and renews it no more.

        Raises:
            Overloaded: another has taken it over.
        """
        ended, renewing = self._renewing[draft.token]
        ended.set()
        await renewing
        if not await self._is_mine(draft):
            raise changed_meanwhile(draft.record.name)

    def is_held(self, builder: Builder) -> bool:
        """Whether somebody is still building."""
        if builder.host == socket.gethostname():
            if builder.pid == os.getpid():
                return builder.token in self._held
            if not _runs(builder.pid):
                return False
        return self._clock() - builder.renewed < LEASE_S

    async def _leftover(self, plain: Record | None, *, name: str = "") -> Stored | None:
        """A leftover that a load of this kind can go on with; the others are taken away."""
        found = None
        for each in await self._catalogue.all_of(plain.name if plain else name):
            record = each.record
            if each.has_alias or record is None or record.builder is None:
                continue
            if self.is_held(record.builder):
                continue
            if replace(record, builder=None) == plain and found is None:
                found = each
            else:
                await self._catalogue.delete(each.index)
        if found:
            # What cannot be read now may be hours of work: that is told, and nothing taken away.
            await self._catalogue.count(found.index)
            refresh = self._server.client.indices.refresh
            what = f"refresh {found.index}"
            await self._server.ask(refresh, what, timeout_s=_MAKE_S, index=found.index)
        return found

    @asynccontextmanager
    async def _kept(self, draft: Draft) -> AsyncIterator[Draft]:
        ended = asyncio.Event()
        renewing = asyncio.create_task(self._renew(draft, ended))
        self._renewing[draft.token] = ended, renewing
        try:
            yield draft
        except _CUT_OFF:
            if not draft.may_be_resumed:
                await self._take_away(draft)
            raise
        except Exception:
            await self._take_away(draft)
            raise
        finally:
            del self._renewing[draft.token]
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _take_away(self, draft: Draft) -> None:
        with suppress(ScaarError):  # the next to build takes away what could not be
            await self._catalogue.delete(draft.stored.index)

    async def _renew(self, draft: Draft, ended: asyncio.Event) -> None:
        """Says every now and then that the draft has its builder, until that ends."""
        while not ended.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _RENEWED_EVERY_S)
                return
            with suppress(ScaarError):
                if await self._is_mine(draft):
                    record = draft.record.renewed(self._clock())
                    await self._catalogue.write_record(draft.stored.index, record)

    async def _is_mine(self, draft: Draft) -> bool:
        for each in await self._catalogue.all_of(draft.record.name):
            if each.index == draft.stored.index and each.record and each.record.builder:
                return each.record.builder.token == draft.token
        return False

    def _builder(self) -> Builder:
        token = secrets.token_hex(8)
        self._held.add(token)
        return Builder(socket.gethostname(), os.getpid(), token, self._clock())


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
