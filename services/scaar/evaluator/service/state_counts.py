"""Counts of evaluations and shards by state, published every few seconds."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from scaar.core.errors import ScaarError
from scaar.core.observers import EvaluationObserver
from scaar.database.database import Database
from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.store.database.counts import count_evaluations, count_shards

_LOGGER = logging.getLogger(__name__)

COUNT_EVERY_S = 5.0


@asynccontextmanager
async def publish_counts(
    database: Database,
    observer: EvaluationObserver | None,
    *,
    now: Callable[[], float],
    every_s: float = COUNT_EVERY_S,
) -> AsyncIterator[None]:
    """Report the counts to the observer while the block runs; do nothing without an observer."""
    if observer is None:
        yield
        return
    task = asyncio.create_task(_count(database, observer, now, every_s))
    try:
        yield
    finally:
        await cancel_all((task,))


async def _count(
    database: Database, observer: EvaluationObserver, now: Callable[[], float], every_s: float
) -> None:
    while True:
        try:
            found = await count_evaluations(database)
            oldest = found.oldest_queued_at
            age = 0.0 if oldest is None else max(0.0, now() - oldest)
            observer.on_evaluation_counts(found.by_state, oldest_queued_s=age)
            shards = await count_shards(database)
            observer.on_shard_counts(waiting=shards.waiting, held=shards.leased)
        except ScaarError as error:
            # The observer keeps the last counts.
            _LOGGER.warning("evaluations cannot be counted: %s", error)
        await asyncio.sleep(every_s)
