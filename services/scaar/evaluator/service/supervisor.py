"""The supervisor: starts queued evaluations, offers free shards, ends complete evaluations.

Its state is in the database: any number of processes may run one, and any may be lost.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from scaar.core.errors import ScaarError
from scaar.core.evaluations import EvaluationError, EvaluationState
from scaar.core.plurals import counted
from scaar.database.database import Database
from scaar.evaluator.service.executor import Executor
from scaar.evaluator.service.start import EvaluationStarter
from scaar.evaluator.store.database import shards, transitions
from scaar.evaluator.store.database.evaluations import StoredEvaluation, unfinished_evaluations

_LOGGER = logging.getLogger(__name__)

POLL_S = 0.5
"""Interval in seconds at which it polls the database, unless it is woken."""
START_AGAIN_S = 5.0
"""Seconds before the start of an evaluation is tried again after a temporary error."""
_DAY_S = 86_400.0
_DELETE_EVERY_S = 600.0


@dataclass(slots=True)
class Supervisor:
    """Drives all evaluations of a database; ``now`` returns the time in seconds since 1970."""

    database: Database
    starter: EvaluationStarter
    executor: Executor
    now: Callable[[], float]
    wake: asyncio.Event
    lease_s: float
    shard_faults: int
    retention_days: float
    poll_s: float = POLL_S
    # By the monotonic clock, since the system clock may be set.
    _start_at: dict[int, float] = field(default_factory=dict)
    _delete_at: float = 0.0

    async def run(self) -> None:
        """Run until cancelled, whatever errors the database raises."""
        while True:
            with _logged("evaluations"):
                await self.poll()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.poll_s):
                    await self.wake.wait()
            self.wake.clear()

    async def poll(self) -> None:
        """Do everything that can be done now; an error of one evaluation does not affect others."""
        for stored in await unfinished_evaluations(self.database):
            with _logged(f"evaluation {stored.id}"):
                if stored.state is EvaluationState.QUEUED:
                    await self._start(stored)
                else:
                    await self._drive(stored)
        if time.monotonic() >= self._delete_at:
            self._delete_at = time.monotonic() + _DELETE_EVERY_S
            before = self.now() - self.retention_days * _DAY_S
            await transitions.delete_ended(self.database, before=before)

    async def _start(self, stored: StoredEvaluation) -> None:
        if time.monotonic() < self._start_at.get(stored.number, 0.0):
            return
        if await self.starter.start(stored):
            self._start_at.pop(stored.number, None)
            self.wake.set()
        else:
            self._start_at[stored.number] = time.monotonic() + START_AGAIN_S

    async def _drive(self, stored: StoredEvaluation) -> None:
        if await transitions.succeed_if_complete(self.database, stored.number, now=self.now()):
            return
        free = await shards.free_shards(
            self.database, stored.number, now=self.database.clock, lease_s=self.lease_s
        )
        for each in free:
            if each.faults >= self.shard_faults:
                times = counted(each.faults, "time")
                text = f"shard {each.key.number} lost its holder {times} without ending"
                why = EvaluationError(ScaarError.reason, text)
                await transitions.fail(self.database, stored.number, why, now=self.now())
                return
            await self.executor.submit(each.key)


@contextmanager
def _logged(subject: str) -> Iterator[None]:
    """Log an error of the block; the next poll tries again."""
    try:
        yield
    except ScaarError as error:
        _LOGGER.warning("%s: %s", subject, error)
    except Exception:
        _LOGGER.exception("%s", subject)
