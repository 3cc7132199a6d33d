"""Which indexes there are on OpenSearch, and how one appears, is replaced and goes.

::

    <prefix><name>              an alias: the index that counts
    <prefix><name>~<random>     an index: the one that counts, one being built, or a leftover

An index is changed by building another beside it. It appears, or takes an old one's place, by one
atomic change of the alias; so it is there when it is whole, and not before. What a killed builder
leaves is never an index: the next one to build that name goes on with it or takes it away.
"""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from scaar.core.errors import BackendUnavailable, NotFound, ScaarError
from scaar.retriever.conditions import already_exists, changed_meanwhile, not_found
from scaar.retriever.opensearch_record import Record, damaged, record_of
from scaar.retriever.opensearch_server import Server

_APART = "~"
"""Stands in no index's name."""
_ATTEMPTS = 5
_CHANGES_S = 2.0
"""The longest that changes of the cluster are waited for."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An index on the server, and its record, if it has one."""

    index: str
    name: str
    record: Record | None
    has_alias: bool


class Catalogue:
    """The indexes whose names begin with a prefix. Processes may share it."""

    def __init__(self, server: Server, prefix: str) -> None:
        self._server, self._prefix = server, prefix
        self._indices = server.client.indices

    async def names(self) -> list[str]:
        """The names of the indexes, damaged ones too, in order."""
        return sorted({each.name for each in await self.all_of("*") if each.has_alias})

    async def all_of(self, name: str) -> list[Stored]:
        """Every index of a name, leftovers and those being built too; ``*`` for every name.

        Those of a longer prefix that begins with this one are somebody else's.
        """
        pattern = f"{self._prefix}{name}{_APART}*"
        found = await self._get(pattern, f"list the indexes {pattern!r}")
        every = [self._stored(index, each) for index, each in sorted(found.items())]
        return [each for each in every if each.record is None or each.record.name == each.name]

    async def find(self, name: str) -> Stored:
        """The index that a name stands for; its record may be missing.

        Raises:
            NotFound: there is none.
            DataCorrupt: the name stands for several.
        """
        try:
            found = await self._get(f"{self._prefix}{name}", f"look up the index {name!r}")
        except NotFound as error:
            raise not_found(name, await self.names()) from error
        if len(found) != 1:
            raise damaged(name, f"its alias stands for {len(found)} indexes")
        return self._stored(*next(iter(found.items())))

    async def exists(self, name: str) -> bool:
        """Whether the name is taken, by a damaged index too."""
        try:
            await self._get(f"{self._prefix}{name}", f"look up the index {name!r}")
        except NotFound:
            return False
        return True

    async def open(self, name: str) -> tuple[Stored, Record]:
        """An index that can be searched, and its record.

        Raises:
            NotFound: there is none.
            DataCorrupt: it does not hold what its record says.
            BackendUnavailable: a shard of it is not there.
        """
        while True:
            stored = await self.find(name)
            try:
                return stored, await self._counted(stored)
            except ScaarError:
                # Replaced or dropped under our hands: what the name stands for now is looked up.
                if not await self.is_gone(stored):
                    raise

    async def is_gone(self, stored: Stored) -> bool:
        """Whether its name no longer stands for that index.

        A node closes the shards of an index before it says that the index is gone, and meanwhile
        answers as if shards were lost. So changes of the cluster that are under way are waited for
        first, where the user may do that (``cluster:monitor/health``).
        """
        with suppress(ScaarError):
            await self._server.ask(
                self._server.client.cluster.health,
                "wait for changes of the cluster",
                timeout_s=_CHANGES_S,
                params={"wait_for_events": "languid", "timeout": f"{_CHANGES_S:g}s"},
            )
        try:
            return await self._index_of(stored.name) != stored.index
        except ScaarError:
            return False

    async def layout(self, index: str) -> Mapping[str, Any]:
        """How an index is laid out: its ``mappings`` and ``settings``."""
        found = await self._server.ask(self._indices.get, f"look at {index}", index=index)
        layout: Mapping[str, Any] = found[index]
        return layout

    async def count(self, index: str) -> int:
        """How many passages an index holds, as a search sees them.

        Raises:
            BackendUnavailable: a shard of it is not there; perhaps not yet.
        """
        what = f"count the passages of {index}"
        answer = await self._server.ask(self._server.client.count, what, index=index)
        shards = answer["_shards"]
        if shards["successful"] < shards["total"]:
            there = f"{shards['successful']} of {shards['total']} shards are there"
            raise BackendUnavailable(f"OpenSearch cannot {what} now: {there}")
        return int(answer["count"])

    def new_index(self, name: str) -> str:
        """The name of an index that is not there yet."""
        return f"{self._prefix}{name}{_APART}{secrets.token_hex(8)}"

    async def write_record(self, index: str, record: Record) -> None:
        """Keeps the record with the index."""
        body = {"_meta": record.meta()}
        what = f"keep the record of {index}"
        await self._server.ask(self._indices.put_mapping, what, index=index, body=body)

    async def commit(self, stored: Stored, *, over: str | None) -> None:
        """Makes an index the one that its name stands for.

        Args:
            stored: The index, whole.
            over: The index that it takes the place of; ``*`` for whichever there is, None for
                none.

        Raises:
            AlreadyExists: there is an index of that name and ``over`` is None.
            Overloaded: the index is no longer the one named by ``over``.
        """
        for _ in range(_ATTEMPTS):
            old = await self._index_of(stored.name) if over == "*" else over
            if await self._switch(stored, old):
                if old is not None:
                    await self.delete(old)
                return
            if over != "*":
                break
        raise already_exists(stored.name) if over is None else changed_meanwhile(stored.name)

    async def delete(self, index: str) -> None:
        """Takes an index of the server away; one that has gone already is passed over."""
        try:
            await self._server.ask(self._indices.delete, f"delete {index}", index=index)
        except NotFound:
            return

    async def _counted(self, stored: Stored) -> Record:
        """The record of an index that holds what the record says."""
        record = stored.record
        if record is None or not record.is_whole or record.name != stored.name:
            raise damaged(stored.name, f"{stored.index} does not say what it is")
        if (there := await self.count(stored.index)) != record.passages:
            what = f"{stored.index} has {there:,} passages, not {record.passages:,}"
            raise damaged(stored.name, what)
        return record

    async def _switch(self, stored: Stored, old: str | None) -> bool:
        """Points the alias to the index, if it still points to the old one (to none for None)."""
        alias = f"{self._prefix}{stored.name}"
        # An alias has one index to write to: a second one is refused, so nothing is built over.
        add = {"add": {"index": stored.index, "alias": alias, "is_write_index": True}}
        remove = {"remove": {"index": old, "alias": alias, "must_exist": True}}
        actions = [add] if old is None else [remove, add]
        try:
            await self._server.ask(
                self._indices.update_aliases,
                f"point {alias!r} to {stored.index}",
                body={"actions": actions},
            )
        except ScaarError:
            # Refused, or done and the answer lost: what is there decides.
            now = await self._index_of(stored.name)
            if now != stored.index and now == old:
                raise
            return now == stored.index
        return True

    async def _index_of(self, name: str) -> str | None:
        try:
            return (await self.find(name)).index
        except NotFound:
            return None

    async def _get(self, pattern: str, what: str) -> Mapping[str, Any]:
        found = await self._server.ask(
            self._indices.get,
            what,
            index=pattern,
            params={
                "filter_path": "*.aliases,*.mappings._meta",
                # One that somebody has closed is damaged, and not gone.
                "expand_wildcards": "open,closed",
            },
        )
        # An index without aliases and record is filtered away to nothing.
        return found if isinstance(found, Mapping) else {}

    def _stored(self, index: str, found: Mapping[str, Any]) -> Stored:
        name = index.removeprefix(self._prefix).rpartition(_APART)[0]
        record = record_of(found.get("mappings", {}).get("_meta", {}))
        has_alias = f"{self._prefix}{name}" in found.get("aliases", {})
        return Stored(index, name, record, has_alias)
