"""Shards of an evaluation in sequence, at full concurrency across their boundaries."""

import asyncio
import time
from dataclasses import dataclass

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.execution.items import QuestionLimiter
from scaar.evaluator.service.shard_execution import ShardExecution
from scaar.evaluator.store.database.shards import ShardKey, ShardLease, free_shards

_CANDIDATES = 16
"""Number of free shards to try, since other processes compete for them."""


@dataclass(frozen=True, slots=True)
class ShardSequence:
    """Executes a shard, and then further shards of the same evaluation.

    ``concurrency`` is the maximum number of concurrent questions; after ``continue_s`` no further
    shard is started.
    """

    execution: ShardExecution
    concurrency: int
    continue_s: float

    async def execute(self, key: ShardKey) -> None:
        """Complete the shard, then free shards of its evaluation.

        A shard starts when the last question of the previous one has started. Nothing happens if
        another process holds the shard, or its evaluation has ended.

        Raises:
            ScaarError: the database does not respond.
        """
        limiter, until = QuestionLimiter(self.concurrency), time.monotonic() + self.continue_s
        settling: list[asyncio.Task[None]] = []
        lease = await self.execution.claim(key)
        try:
            while lease is not None:
                started = asyncio.Event()
                settle = self.execution.settle(lease, limiter, on_last_started=started.set)
                settling.append(asyncio.create_task(settle))
                await _started_or_ended(started, settling[-1])
                await _ended(settling, remaining=1)
                lease = await self._next(key.evaluation) if time.monotonic() < until else None
            await _ended(settling, remaining=0)
        finally:
            await cancel_all(settling)

    async def _next(self, evaluation: int) -> ShardLease | None:
        """Lease a free shard of the evaluation; None if there is none or the database is away.

        Shards with faults are left to the supervisor, which may have to fail the evaluation.
        """
        execution = self.execution
        now = execution.database.clock
        try:
            free = await free_shards(
                execution.database,
                evaluation,
                now=now,
                lease_s=execution.lease_s,
                limit=_CANDIDATES,
            )
            for each in free:
                if each.faults == 0 and (lease := await execution.claim(each.key)):
                    return lease
        except BackendUnavailable:
            # Running shards may outlast the outage.
            return None
        return None


async def _started_or_ended(started: asyncio.Event, settling: asyncio.Task[None]) -> None:
    waiting = asyncio.create_task(started.wait())
    try:
        await asyncio.wait({waiting, settling}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


async def _ended(tasks: list[asyncio.Task[None]], *, remaining: int) -> None:
    """Wait until at most ``remaining`` tasks are running; raise the error of one that failed."""
    while True:
        for each in [task for task in tasks if task.done()]:
            tasks.remove(each)
            each.result()
        if len(tasks) <= remaining:
            return
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
