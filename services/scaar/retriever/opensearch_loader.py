"""Sends passages to an index on OpenSearch, several requests at a time and no more."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scaar.core.errors import Overloaded, ScaarError
from scaar.retriever.opensearch_errors import condition
from scaar.retriever.opensearch_server import Server

_BULK_S = 120.0
_ATTEMPTS = 10
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 8.0
"""Before what had no room is sent again, half of it by chance; twice as long each time."""


class Loader:
    """Takes the lines of bulk requests in, and sends them in requests of a size."""

    def __init__(
        self,
        server: Server,
        index: str,
        *,
        request_bytes: int,
        workers: int,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._server, self._index, self._chance = server, index, chance
        self._request_bytes, self._workers = request_bytes, workers
        self._lines: list[bytes] = []
        self._bytes = 0
        self._under_way: set[asyncio.Task[None]] = set()

    async def put(self, lines: Sequence[bytes]) -> None:
        """Takes the lines of passages in; waits while as many requests as may be are under way.

        Raises:
            ScaarError: an earlier request failed.
        """
        for each in lines:
            self._lines.append(each)
            self._bytes += len(each)
            if self._bytes >= self._request_bytes:
                await self._send()

    async def finish(self) -> None:
        """Returns when OpenSearch has everything.

        Raises:
            ScaarError: a request failed.
        """
        if self._lines:
            await self._send()
        while self._under_way:
            await self._wait()

    async def abandon(self) -> None:
        """Ends what is under way."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        self._under_way.clear()

    async def _send(self) -> None:
        while len(self._under_way) >= self._workers:
            await self._wait()
        lines, self._lines, self._bytes = self._lines, [], 0
        self._under_way.add(asyncio.create_task(self._bulk(lines)))

    async def _wait(self) -> None:
        done, self._under_way = await asyncio.wait(
            self._under_way, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def _bulk(self, lines: Sequence[bytes]) -> None:
        wait_s = _FIRST_WAIT_S
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                lines = await self._refused(lines)
                if not lines:
                    return
            except Overloaded:
                if attempt == _ATTEMPTS:
                    raise
            if attempt < _ATTEMPTS:
                # Those that were refused together do not come again together.
                await asyncio.sleep(wait_s * (1 + self._chance()) / 2)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        raise condition(429, "", f"load {self._index}")

    async def _refused(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Sends the lines; those of passages that there was no room for."""
        what = f"load {self._index}"
        answer = await self._server.ask(
            self._server.client.bulk,
            what,
            timeout_s=_BULK_S,
            index=self._index,
            body=b"".join(lines),
            params={"filter_path": "errors,items.*.status,items.*.error.type"},
        )
        if not answer.get("errors"):
            return ()
        items: list[Mapping[str, Any]] = [next(iter(each.values())) for each in answer["items"]]
        if len(items) != len(lines):
            raise ScaarError(f"OpenSearch answered for {len(items)} of {len(lines)} passages")
        left = []
        for line, item in zip(lines, items, strict=True):
            if item["status"] == 429:
                left.append(line)
            elif "error" in item:
                raise condition(item["status"], str(item["error"].get("type", "")), what)
        return left
