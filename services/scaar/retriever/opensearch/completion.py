"""Completion of a build on OpenSearch: counts, merges, records and publishes the loaded index."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

from scaar.core.errors import BackendUnavailable, DataCorrupt
from scaar.core.types import IndexDescription
from scaar.retriever.opensearch.catalogue import Catalogue, StoredIndex
from scaar.retriever.opensearch.content import Content
from scaar.retriever.opensearch.loader import Loader
from scaar.retriever.opensearch.pages import pages_of
from scaar.retriever.opensearch.pending import PendingIndex, PendingIndexes
from scaar.retriever.opensearch.schema import delete_lines
from scaar.retriever.opensearch.server import Server

_LONG_TIMEOUT_S = 600.0
_PAGE = 5_000
_FIRST_POLL_S, _MAX_POLL_S = 0.05, 5.0


class BuildCompletion:
    """Completes pending indexes and publishes them under their names."""

    def __init__(
        self,
        server: Server,
        catalogue: Catalogue,
        pending: PendingIndexes,
        *,
        replicas: int,
        now: Callable[[], datetime],
    ) -> None:
        self._server, self._catalogue, self._pending = server, catalogue, pending
        self._replicas, self._now = replicas, now
        self._indices = server.client.indices

    async def delete_stale_passages(
        self, pending: PendingIndex, ids: Collection[str], loader: Loader
    ) -> None:
        """Delete the passages of a pending index that are not among the ids.

        An interrupted build of other passages may have left them.
        """
        index = pending.stored.index
        await self._refresh(index)
        if await self._catalogue.count(index) == len(ids):
            return
        async with aclosing(pages_of(self._server, index, size=_PAGE, source=False)) as pages:
            async for page in pages:
                found = [str(hit["sort"][0]) for hit in page]
                await loader.put([delete_lines(each) for each in found if each not in ids])
        await loader.finish()

    async def commit(
        self, pending: PendingIndex, content: Content, *, over: str | None
    ) -> IndexDescription:
        """Complete a pending index with this content, and publish it under its name.

        Raises:
            DataCorrupt: the index contains another number of passages than were sent.
            AlreadyExists, Overloaded: as :meth:`Catalogue.commit`; or another builder took over
                the pending index.
        """
        index, name = pending.stored.index, pending.record.name
        await self._refresh(index)
        if (count := await self._catalogue.count(index)) != content.passages:
            text = f"{index} contains {count:,} passages, not {content.passages:,}"
            raise DataCorrupt(f"the index {name!r} was not built: {text}; try again", index=name)
        await self._merge(index)
        await self._refresh(index)
        await self._settle(index)
        await self._pending.check_ownership(pending)
        built = pending.record
        version = content.version(
            k1=built.k1, b=built.b, fields=built.metadata_fields, dense=built.dense
        )
        record = replace(
            pending.record,
            version=version,
            content=content.total,
            passages=content.passages,
            created=self._now().isoformat(timespec="seconds").replace("+00:00", "Z"),
            size_bytes=await self._size(index),
        )
        await self._catalogue.write_record(index, record)
        await self._catalogue.commit(StoredIndex(index, name, record, has_alias=False), over=over)
        return record.description()

    async def _refresh(self, index: str) -> None:
        await self._server.call(
            self._indices.refresh, f"refresh {index}", timeout_s=_LONG_TIMEOUT_S, index=index
        )

    async def _merge(self, index: str) -> None:
        """Merge the index into one segment, which is fast to search and has no deleted passages.

        Before the merge, replaced and deleted passages affect the scores.
        """
        what = f"merge {index}"
        started = await self._server.call(
            self._indices.forcemerge,
            what,
            index=index,
            params={"max_num_segments": 1, "wait_for_completion": "false"},
        )
        wait_s = _FIRST_POLL_S
        while True:
            task = await self._server.call(
                self._server.client.tasks.get, what, task_id=started["task"]
            )
            if task["completed"]:
                break
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _MAX_POLL_S)
        if "error" in task or task.get("response", {}).get("_shards", {}).get("failed"):
            raise BackendUnavailable(f"OpenSearch could not {what}; try again")

    async def _settle(self, index: str) -> None:
        """Add replicas to the index, and block writes to it."""
        settings = {
            "index.number_of_replicas": self._replicas,
            "index.refresh_interval": "30s",
            "index.blocks.write": True,
        }
        await self._server.call(
            self._indices.put_settings, f"add replicas to {index}", index=index, body=settings
        )

    async def _size(self, index: str) -> int:
        stats = await self._server.call(
            self._indices.stats, f"measure {index}", index=index, metric="store"
        )
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])
