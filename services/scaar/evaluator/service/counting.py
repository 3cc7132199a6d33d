"""How many evaluations and shards there are in each state, told every few seconds."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from scaar.core.errors import ScaarError
from scaar.core.observers import EvaluationObserver
from scaar.evaluator.execution.stopping import stopped
from scaar.evaluator.store.database.counts import count_evaluations, count_shards
from scaar.evaluator.store.database.opening import Database

_LOGGER = logging.getLogger(__name__)

COUNT_EVERY_S = 5.0


@asynccontextmanager
async def counting(
    database: Database,
    observer: EvaluationObserver | None,
    *,
    now: Callable[[], float],
    every_s: float = COUNT_EVERY_S,
) -> AsyncIterator[None]:
    """Tells the observer while the block runs; nothing is counted where there is none."""
    if observer is None:
        yield
        return
    task = asyncio.create_task(_count(database, observer, now, every_s))
    try:
        yield
    finally:
        await stopped((task,))


async def _count(
    database: Database, observer: EvaluationObserver, now: Callable[[], float], every_s: float
) -> None:
    while True:
        try:
            found = await count_evaluations(database)
            oldest = found.oldest_queued_at
            age = 0.0 if oldest is None else max(0.0, now() - oldest)
            observer.evaluations_counted(found.by_state, oldest_queued_s=age)
            shards = await count_shards(database)
            observer.shards_counted(waiting=shards.waiting, held=shards.held)
        except ScaarError as error:
            # What was counted last is told on.
            _LOGGER.warning("evaluations are not counted: %s", error)
        await asyncio.sleep(every_s)
