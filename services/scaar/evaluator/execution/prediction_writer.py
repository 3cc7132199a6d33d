"""A writer of predictions that batches them, for stores in which every write is costly."""

import asyncio
from collections.abc import Callable

from scaar.evaluator.records import Prediction
from scaar.evaluator.store.port import PredictionStore

MAX_PENDING = 64
"""Maximum number of predictions that wait to be stored; further ones block their producer."""


class PredictionWriter:
    """Stores predictions in batches; a batch has those that arrive within ``gather_s``."""

    def __init__(self, store: PredictionStore, on_stored: Callable[[Prediction], None]) -> None:
        """``on_stored`` is called for each prediction once it is stored."""
        self._store = store
        self._on_stored = on_stored
        self._pending: asyncio.Queue[Prediction | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(MAX_PENDING)

    async def put(self, prediction: Prediction) -> None:
        """Enqueue a prediction; wait while the queue is full."""
        await self._room.acquire()
        self._pending.put_nowait(prediction)

    def end(self) -> None:
        """Declare that no further prediction will be put."""
        self._pending.put_nowait(None)

    async def run(self) -> None:
        """Store predictions until :meth:`end` was called and all are stored.

        Raises:
            ScaarError: a batch cannot be stored; earlier batches are stored.
        """
        while batch := await self._batch():
            await self._store.add(batch)
            for each in batch:
                self._room.release()
                self._on_stored(each)

    async def _batch(self) -> list[Prediction]:
        """The predictions that arrive within ``gather_s`` of the first; empty at the end."""
        found: list[Prediction] = []
        until: float | None = None
        while len(found) < MAX_PENDING:
            try:
                async with asyncio.timeout_at(until):
                    each = await self._pending.get()
            except TimeoutError:
                break
            if each is None:
                # The end stays visible to the next call.
                self.end()
                break
            found.append(each)
            if until is None:
                until = asyncio.get_running_loop().time() + self._store.gather_s
        return found
