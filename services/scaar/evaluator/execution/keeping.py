"""Predictions on their way into a store, several at a time where each writing costs."""

import asyncio
from collections.abc import Callable

from scaar.evaluator.records import Prediction
from scaar.evaluator.store.port import PredictionStore

MOST = 64
"""Predictions that are not kept yet; whoever brings another waits."""


class Keeping:
    """Keeps predictions in a store, each together with those that come within a moment."""

    def __init__(self, store: PredictionStore, told: Callable[[Prediction], None]) -> None:
        """``told`` is called with each that has been kept; how long a moment is, the store says."""
        self._store = store
        self._told = told
        self._brought: asyncio.Queue[Prediction | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(MOST)

    async def bring(self, prediction: Prediction) -> None:
        """Has it kept soon; waits for nothing but room."""
        await self._room.acquire()
        self._brought.put_nowait(prediction)

    def end(self) -> None:
        """Says that nothing more is brought."""
        self._brought.put_nowait(None)

    async def keep(self) -> None:
        """Returns when it was told that nothing more is brought, and all of it is kept.

        Raises:
            ScaarError: some cannot be kept; those before them are.
        """
        while together := await self._gathered():
            await self._store.add(together)
            for each in together:
                self._room.release()
                self._told(each)

    async def _gathered(self) -> list[Prediction]:
        """What comes within a moment of the first that comes; nothing at the end."""
        found: list[Prediction] = []
        until: float | None = None
        while len(found) < MOST:
            try:
                async with asyncio.timeout_at(until):
                    each = await self._brought.get()
            except TimeoutError:
                break
            if each is None:
                # For whoever looks next.
                self.end()
                break
            found.append(each)
            if until is None:
                until = asyncio.get_running_loop().time() + self._store.gather_s
        return found
