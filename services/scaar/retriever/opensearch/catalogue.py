"""Catalogue of the indexes on OpenSearch, which are published, replaced and dropped atomically.

::

    <prefix><name>              an alias of the current index
    <prefix><name>~<random>     an index: the current one, one being built, or a leftover

To change an index, another one is built beside it. One atomic change of the alias publishes the new
index or replaces the old one, so that only complete indexes are visible. The leftover of a killed
builder is never visible; the next build of the same name resumes or deletes it.
"""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from scaar.core.errors import BackendUnavailable, NotFound, ScaarError
from scaar.retriever.conditions import already_exists, changed_concurrently, not_found
from scaar.retriever.opensearch.record import Record, damaged, record_of
from scaar.retriever.opensearch.server import Server

_SEPARATOR = "~"
"""Separator, which no index name contains."""
_ATTEMPTS = 5
_CHANGES_TIMEOUT_S = 2.0
"""Maximum time to wait for pending changes of the cluster, in seconds."""


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index on the server, and its record, if it has one."""

    index: str
    name: str
    record: Record | None
    has_alias: bool


class Catalogue:
    """The indexes whose names begin with a prefix, which several processes may share."""

    def __init__(self, server: Server, prefix: str) -> None:
        self._server, self._prefix = server, prefix
        self._indices = server.client.indices

    async def names(self) -> list[str]:
        """Return the names of the indexes, sorted, including damaged ones."""
        return sorted({each.name for each in await self.indexes_of("*") if each.has_alias})

    async def indexes_of(self, name: str) -> list[StoredIndex]:
        """Return every index of a name, including leftovers and builds; ``*`` for every name.

        Indexes of a longer prefix that begins with this one are excluded.
        """
        pattern = f"{self._prefix}{name}{_SEPARATOR}*"
        found = await self._get(pattern, f"list the indexes {pattern!r}")
        every = [self._stored(index, each) for index, each in sorted(found.items())]
        return [each for each in every if each.record is None or each.record.name == each.name]

    async def find(self, name: str) -> StoredIndex:
        """Return the current index of a name. Its record may be missing.

        Raises:
            NotFound: there is no such index.
            DataCorrupt: the alias points to several indexes.
        """
        try:
            found = await self._get(f"{self._prefix}{name}", f"look up the index {name!r}")
        except NotFound as error:
            raise not_found(name, await self.names()) from error
        if len(found) != 1:
            raise damaged(name, f"its alias points to {len(found)} indexes")
        return self._stored(*next(iter(found.items())))

    async def exists(self, name: str) -> bool:
        """Return whether there is an index of that name, damaged or not."""
        try:
            await self._get(f"{self._prefix}{name}", f"look up the index {name!r}")
        except NotFound:
            return False
        return True

    async def open(self, name: str) -> tuple[StoredIndex, Record]:
        """Return a searchable index and its record.

        Raises:
            NotFound: there is no such index.
            DataCorrupt: the content of the index differs from its record.
            BackendUnavailable: a shard of the index is missing.
        """
        while True:
            stored = await self.find(name)
            try:
                return stored, await self._counted(stored)
            except ScaarError:
                # If the index was replaced or dropped meanwhile, look up the current one.
                if not await self.is_stale(stored):
                    raise

    async def is_stale(self, stored: StoredIndex) -> bool:
        """Return whether the index was replaced or dropped.

        A node closes the shards of a deleted index before it reports the deletion, and responds as
        if shards were lost in between. Therefore, pending changes of the cluster are awaited first,
        if the user has the permission ``cluster:monitor/health``.
        """
        with suppress(ScaarError):
            await self._server.call(
                self._server.client.cluster.health,
                "wait for changes of the cluster",
                timeout_s=_CHANGES_TIMEOUT_S,
                params={"wait_for_events": "languid", "timeout": f"{_CHANGES_TIMEOUT_S:g}s"},
            )
        try:
            return await self._index_of(stored.name) != stored.index
        except ScaarError:
            return False

    async def layout(self, index: str) -> Mapping[str, Any]:
        """Return the ``mappings`` and ``settings`` of an index."""
        found = await self._server.call(
            self._indices.get, f"read the layout of {index}", index=index
        )
        layout: Mapping[str, Any] = found[index]
        return layout

    async def count(self, index: str) -> int:
        """Return the number of passages that a search of the index sees.

        Raises:
            BackendUnavailable: a shard of the index is missing, perhaps because it is starting.
        """
        what = f"count the passages of {index}"
        answer = await self._server.call(self._server.client.count, what, index=index)
        shards = answer["_shards"]
        if shards["successful"] < shards["total"]:
            text = f"{shards['successful']} of {shards['total']} shards are available"
            raise BackendUnavailable(f"OpenSearch cannot {what} now: {text}")
        return int(answer["count"])

    def new_index(self, name: str) -> str:
        """Return an unused name for a new index."""
        return f"{self._prefix}{name}{_SEPARATOR}{secrets.token_hex(8)}"

    async def write_record(self, index: str, record: Record) -> None:
        """Store the record with the index."""
        body = {"_meta": record.meta()}
        what = f"store the record of {index}"
        await self._server.call(self._indices.put_mapping, what, index=index, body=body)

    async def commit(self, stored: StoredIndex, *, over: str | None) -> None:
        """Publish an index under its name.

        Args:
            stored: The complete index.
            over: The index to replace; ``*`` for the current one, if any, None to replace nothing.

        Raises:
            AlreadyExists: the index exists, and ``over`` is None.
            Overloaded: the current index is not the one named by ``over``.
        """
        for _ in range(_ATTEMPTS):
            old = await self._index_of(stored.name) if over == "*" else over
            if await self._switch(stored, old):
                if old is not None:
                    await self.delete(old)
                return
            if over != "*":
                break
        raise already_exists(stored.name) if over is None else changed_concurrently(stored.name)

    async def delete(self, index: str) -> None:
        """Delete an index of the server, if it exists."""
        try:
            await self._server.call(self._indices.delete, f"delete {index}", index=index)
        except NotFound:
            return

    async def _counted(self, stored: StoredIndex) -> Record:
        """Return the record of an index, after comparing the number of passages with it."""
        record = stored.record
        if record is None or not record.is_complete or record.name != stored.name:
            raise damaged(stored.name, f"{stored.index} has no record of its content")
        if (count := await self.count(stored.index)) != record.passages:
            what = f"{stored.index} has {count:,} passages, not {record.passages:,}"
            raise damaged(stored.name, what)
        return record

    async def _switch(self, stored: StoredIndex, old: str | None) -> bool:
        """Point the alias to the index if it still points to ``old`` (None: to no index)."""
        alias = f"{self._prefix}{stored.name}"
        # An alias has one write index. OpenSearch rejects a second one, so no index is overwritten.
        add = {"add": {"index": stored.index, "alias": alias, "is_write_index": True}}
        remove = {"remove": {"index": old, "alias": alias, "must_exist": True}}
        actions = [add] if old is None else [remove, add]
        try:
            await self._server.call(
                self._indices.update_aliases,
                f"point {alias!r} to {stored.index}",
                body={"actions": actions},
            )
        except ScaarError:
            # Rejected, or done with the response lost: the current alias decides.
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
        found = await self._server.call(
            self._indices.get,
            what,
            index=pattern,
            params={
                "filter_path": "*.aliases,*.mappings._meta",
                # A closed index counts as damaged, not as missing.
                "expand_wildcards": "open,closed",
            },
        )
        # Without aliases and records, the filtered response is empty.
        return found if isinstance(found, Mapping) else {}

    def _stored(self, index: str, found: Mapping[str, Any]) -> StoredIndex:
        name = index.removeprefix(self._prefix).rpartition(_SEPARATOR)[0]
        record = record_of(found.get("mappings", {}).get("_meta", {}))
        has_alias = f"{self._prefix}{name}" in found.get("aliases", {})
        return StoredIndex(index, name, record, has_alias)
