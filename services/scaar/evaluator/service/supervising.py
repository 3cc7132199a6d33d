"""What drives evaluations: queued ones are begun, free shards handed on, whole ones ended.

It holds nothing but what it reads: any number of processes may do it, and any may be lost.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from scaar.core.errors import ScaarError
from scaar.core.evaluations import EvaluationError, EvaluationState
from scaar.evaluator.service.beginning import Beginning
from scaar.evaluator.service.executor import Executor
from scaar.evaluator.store.database import shards, transitions
from scaar.evaluator.store.database.evaluations import StoredEvaluation, unfinished_evaluations
from scaar.evaluator.store.database.opening import Database

_LOGGER = logging.getLogger(__name__)

POLL_S = 0.5
"""How often it looks, where nobody wakes it."""
BEGIN_AGAIN_S = 5.0
"""What passes before what answers is asked again, where that could not be asked."""
_DAY_S = 86_400.0
_FORGET_EVERY_S = 600.0


@dataclass(slots=True)
class Supervisor:
    """Drives all evaluations of a database; ``now`` is the time in seconds since 1970."""

    database: Database
    beginning: Beginning
    executor: Executor
    now: Callable[[], float]
    woken: asyncio.Event
    lease_s: float
    shard_faults: int
    retention_days: float
    poll_s: float = POLL_S
    # These are of how long ago, and not of when: clocks are set.
    _begin_at: dict[int, float] = field(default_factory=dict)
    _forget_at: float = 0.0

    async def run(self) -> None:
        """Goes on until it is cancelled, whatever happens to the database."""
        while True:
            with _logged("evaluations"):
                await self.look()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.poll_s):
                    await self.woken.wait()
            self.woken.clear()

    async def look(self) -> None:
        """Does what there is to do now; what cannot go on keeps nothing else."""
        for stored in await unfinished_evaluations(self.database):
            with _logged(f"evaluation {stored.id}"):
                if stored.state is EvaluationState.QUEUED:
                    await self._begin(stored)
                else:
                    await self._drive(stored)
        if time.monotonic() >= self._forget_at:
            self._forget_at = time.monotonic() + _FORGET_EVERY_S
            before = self.now() - self.retention_days * _DAY_S
            await transitions.forget_ended(self.database, before=before)

    async def _begin(self, stored: StoredEvaluation) -> None:
        if time.monotonic() < self._begin_at.get(stored.number, 0.0):
            return
        if await self.beginning.begin(stored):
            self._begin_at.pop(stored.number, None)
            self.woken.set()
        else:
            self._begin_at[stored.number] = time.monotonic() + BEGIN_AGAIN_S

    async def _drive(self, stored: StoredEvaluation) -> None:
        if await transitions.succeed_if_whole(self.database, stored.number, now=self.now()):
            return
        free = await shards.free_shards(
            self.database, stored.number, now=self.database.clock, lease_s=self.lease_s
        )
        for each in free:
            if each.faults >= self.shard_faults:
                text = f"shard {each.key.number} was lost {each.faults} times and never ended"
                why = EvaluationError(ScaarError.reason, text)
                await transitions.fail(self.database, stored.number, why, now=self.now())
                return
            await self.executor.submit(each.key)


@contextmanager
def _logged(what: str) -> Iterator[None]:
    """What goes wrong in the block is logged, and tried again when it is looked at next."""
    try:
        yield
    except ScaarError as error:
        _LOGGER.warning("%s: %s", what, error)
    except Exception:
        _LOGGER.exception("%s", what)
