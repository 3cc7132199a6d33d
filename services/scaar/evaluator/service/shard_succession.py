"""One shard of an evaluation after another, without a question less at a time between them."""

import asyncio
import time
from dataclasses import dataclass

from scaar.core.errors import BackendUnavailable
from scaar.evaluator.execution.stopping import stopped
from scaar.evaluator.execution.turns import Turns
from scaar.evaluator.service.shard_execution import ShardExecution
from scaar.evaluator.store.database.shards import Claim, ShardKey, free_shards

_CANDIDATES = 16
"""Free shards that are tried: other processes look for theirs too."""


@dataclass(frozen=True, slots=True)
class ShardSuccession:
    """Executes a shard that it is told of, and then others of the same evaluation.

    ``concurrency`` is how many questions are asked at a time; after ``go_on_s`` no further shard is
    begun.
    """

    execution: ShardExecution
    concurrency: int
    go_on_s: float

    async def execute(self, key: ShardKey) -> None:
        """Settles what is left of the shard, then of those of its evaluation that are free.

        One begins when the last question of the one before has its turn. Nothing happens where
        another holds the shard, or its evaluation has ended.

        Raises:
            ScaarError: the database does not answer.
        """
        turns, until = Turns(self.concurrency), time.monotonic() + self.go_on_s
        settling: list[asyncio.Task[None]] = []
        held = await self.execution.claim(key)
        try:
            while held is not None:
                begun = asyncio.Event()
                settle = self.execution.settle(held, turns, last_begun=begun.set)
                settling.append(asyncio.create_task(settle))
                await _begun_or_ended(begun, settling[-1])
                await _ended(settling, but=1)
                held = await self._next(key.evaluation) if time.monotonic() < until else None
            await _ended(settling, but=0)
        finally:
            await stopped(settling)

    async def _next(self, evaluation: int) -> Claim | None:
        """A free shard of the evaluation, for the while that the database answers.

        One that was lost before is the supervisor's, which may have to end the evaluation.
        """
        execution = self.execution
        now = execution.database.clock
        try:
            free = await free_shards(
                execution.database, evaluation, now=now, lease_s=execution.lease_s, most=_CANDIDATES
            )
            for each in free:
                if each.faults == 0 and (held := await execution.claim(each.key)):
                    return held
        except BackendUnavailable:
            # What is under way may outlast it.
            return None
        return None


async def _begun_or_ended(begun: asyncio.Event, settling: asyncio.Task[None]) -> None:
    waiting = asyncio.create_task(begun.wait())
    try:
        await asyncio.wait({waiting, settling}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


async def _ended(tasks: list[asyncio.Task[None]], *, but: int) -> None:
    """Returns when all of them have ended but so many, and raises what one ended with."""
    while True:
        for each in [task for task in tasks if task.done()]:
            tasks.remove(each)
            each.result()
        if len(tasks) <= but:
            return
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
