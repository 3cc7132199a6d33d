"""Loader of passages into an index on OpenSearch, with bounded concurrent bulk requests."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scaar.core.errors import Overloaded, ScaarError
from scaar.retriever.opensearch.errors import condition
from scaar.retriever.opensearch.server import Server

_BULK_TIMEOUT_S = 120.0
_ATTEMPTS = 10
_FIRST_DELAY_S, _MAX_DELAY_S = 0.25, 8.0
"""Delays before rejected passages are sent again, doubled each time, half of it jitter."""


class Loader:
    """Collects the lines of bulk requests, and sends them in requests of limited size."""

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
        self._in_progress: set[asyncio.Task[None]] = set()

    async def put(self, lines: Sequence[bytes]) -> None:
        """Add the lines of passages. Wait while the maximum number of requests is in progress.

        Raises:
            ScaarError: an earlier request failed.
        """
        for each in lines:
            self._lines.append(each)
            self._bytes += len(each)
            if self._bytes >= self._request_bytes:
                await self._send()

    async def finish(self) -> None:
        """Send the remaining lines, and wait until OpenSearch has received everything.

        Raises:
            ScaarError: a request failed.
        """
        if self._lines:
            await self._send()
        while self._in_progress:
            await self._wait()

    async def cancel(self) -> None:
        """Cancel the requests in progress."""
        for task in self._in_progress:
            task.cancel()
        await asyncio.gather(*self._in_progress, return_exceptions=True)
        self._in_progress.clear()

    async def _send(self) -> None:
        while len(self._in_progress) >= self._workers:
            await self._wait()
        lines, self._lines, self._bytes = self._lines, [], 0
        self._in_progress.add(asyncio.create_task(self._bulk(lines)))

    async def _wait(self) -> None:
        done, self._in_progress = await asyncio.wait(
            self._in_progress, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def _bulk(self, lines: Sequence[bytes]) -> None:
        wait_s = _FIRST_DELAY_S
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                lines = await self._refused(lines)
                if not lines:
                    return
            except Overloaded:
                if attempt == _ATTEMPTS:
                    raise
            if attempt < _ATTEMPTS:
                # Jitter, so that requests rejected together are not retried together.
                await asyncio.sleep(wait_s * (1 + self._chance()) / 2)
                wait_s = min(2 * wait_s, _MAX_DELAY_S)
        raise condition(429, "", f"load {self._index}")

    async def _refused(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Send the lines. Return those that OpenSearch rejected as overload."""
        what = f"load {self._index}"
        answer = await self._server.call(
            self._server.client.bulk,
            what,
            timeout_s=_BULK_TIMEOUT_S,
            index=self._index,
            body=b"".join(lines),
            params={"filter_path": "errors,items.*.status,items.*.error.type"},
        )
        if not answer.get("errors"):
            return ()
        items: list[Mapping[str, Any]] = [next(iter(each.values())) for each in answer["items"]]
        if len(items) != len(lines):
            text = f"OpenSearch reported {len(items)} results for {len(lines)} passages"
            raise ScaarError(text)
        rejected = []
        for line, item in zip(lines, items, strict=True):
            if item["status"] == 429:
                rejected.append(line)
            elif "error" in item:
                raise condition(item["status"], str(item["error"].get("type", "")), what)
        return rejected
