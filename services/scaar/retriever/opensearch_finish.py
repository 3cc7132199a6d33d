"""From an index that was loaded to one that is searched: counted, merged, kept and named."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

from scaar.core.errors import BackendUnavailable, DataCorrupt
from scaar.core.types import IndexDescription
from scaar.retriever.opensearch_catalogue import Catalogue, Stored
from scaar.retriever.opensearch_content import Content
from scaar.retriever.opensearch_drafts import Draft, Drafts
from scaar.retriever.opensearch_loader import Loader
from scaar.retriever.opensearch_pages import pages_of
from scaar.retriever.opensearch_schema import delete_lines
from scaar.retriever.opensearch_server import Server

_LONG_S = 600.0
_PAGE = 5_000
_LOOK_AFTER_S, _LOOK_AT_LEAST_EVERY_S = 0.05, 5.0


class Finish:
    """Makes drafts the indexes of their names."""

    def __init__(
        self,
        server: Server,
        catalogue: Catalogue,
        drafts: Drafts,
        *,
        replicas: int,
        now: Callable[[], datetime],
    ) -> None:
        self._server, self._catalogue, self._drafts = server, catalogue, drafts
        self._replicas, self._now = replicas, now
        self._indices = server.client.indices

    async def take_away_strays(self, draft: Draft, ids: Collection[str], loader: Loader) -> None:
        """Takes out of a draft the passages that are not among the ids.

        An earlier load, of other passages, has left them.
        """
        index = draft.stored.index
        await self._refresh(index)
        if await self._catalogue.count(index) == len(ids):
            return
        async with aclosing(pages_of(self._server, index, size=_PAGE, source=False)) as pages:
            async for page in pages:
                there = [str(hit["sort"][0]) for hit in page]
                await loader.put([delete_lines(each) for each in there if each not in ids])
        await loader.finish()

    async def commit(self, draft: Draft, content: Content, *, over: str | None) -> IndexDescription:
        """Makes a draft that holds the content the index of its name.

        Raises:
            DataCorrupt: it holds another number of passages than it was sent.
            AlreadyExists, Overloaded: as :meth:`Catalogue.commit`; and another took the draft.
        """
        index, name = draft.stored.index, draft.record.name
        await self._refresh(index)
        if (there := await self._catalogue.count(index)) != content.passages:
            text = f"{index} took in {there:,} passages, not {content.passages:,}"
            raise DataCorrupt(f"the index {name!r} was not built: {text}; try again", index=name)
        await self._merge(index)
        await self._refresh(index)
        await self._settle(index)
        await self._drafts.check_held(draft)
        built = draft.record
        version = content.version(
            k1=built.k1, b=built.b, fields=built.metadata_fields, dense=built.dense
        )
        record = replace(
            draft.record,
            version=version,
            content=content.total,
            passages=content.passages,
            created=self._now().isoformat(timespec="seconds").replace("+00:00", "Z"),
            size_bytes=await self._size(index),
        )
        await self._catalogue.write_record(index, record)
        await self._catalogue.commit(Stored(index, name, record, has_alias=False), over=over)
        return record.description()

    async def _refresh(self, index: str) -> None:
        await self._server.ask(
            self._indices.refresh, f"refresh {index}", timeout_s=_LONG_S, index=index
        )

    async def _merge(self, index: str) -> None:
        """Merges the index to one segment: quick to search, and free of what was taken out.

        Passages that were replaced or taken out count in the scores until then.
        """
        what = f"merge {index}"
        started = await self._server.ask(
            self._indices.forcemerge,
            what,
            index=index,
            params={"max_num_segments": 1, "wait_for_completion": "false"},
        )
        wait_s = _LOOK_AFTER_S
        while True:
            task = await self._server.ask(
                self._server.client.tasks.get, what, task_id=started["task"]
            )
            if task["completed"]:
                break
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LOOK_AT_LEAST_EVERY_S)
        if "error" in task or task.get("response", {}).get("_shards", {}).get("failed"):
            raise BackendUnavailable(f"OpenSearch could not {what}; try again")

    async def _settle(self, index: str) -> None:
        """Has copies made of the index, and nothing written into it any more."""
        settings = {
            "index.number_of_replicas": self._replicas,
            "index.refresh_interval": "30s",
            "index.blocks.write": True,
        }
        await self._server.ask(
            self._indices.put_settings, f"settle {index}", index=index, body=settings
        )

    async def _size(self, index: str) -> int:
        stats = await self._server.ask(
            self._indices.stats, f"measure {index}", index=index, metric="store"
        )
        return int(stats["_all"]["primaries"]["store"]["size_in_bytes"])
