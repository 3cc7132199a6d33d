"""A shard executed: claimed, asked until every question of it is settled, and given back."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from scaar.core.call_context import CallContext, in_call
from scaar.core.errors import BackendUnavailable, Overloaded, ScaarError
from scaar.core.evaluations import EvaluationError
from scaar.core.observers import EvaluationObserver, ShardEnd
from scaar.core.ports import Answerer
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.execution.shard import run_shard
from scaar.evaluator.execution.stopping import stopped
from scaar.evaluator.execution.turns import Turns
from scaar.evaluator.planning.work import plan_work, work_left
from scaar.evaluator.records import Prediction
from scaar.evaluator.service.planning import template_of
from scaar.evaluator.service.shard_telling import ShardTelling
from scaar.evaluator.store.database import shards, transitions
from scaar.evaluator.store.database.evaluations import (
    StoredEvaluation,
    numbered_evaluation,
    questions_of,
)
from scaar.evaluator.store.database.opening import Database
from scaar.evaluator.store.database.predictions import ShardPredictions
from scaar.evaluator.store.database.shards import Claim, ShardKey

HEARTBEAT_S = 1.0
"""How often whoever holds a shard says so, and learns whether it still does: a lost or cancelled
one is left within that time."""
LONGEST_PAUSE_S = 30.0
"""The most that passes before questions that failed are asked again."""

_Ask = Callable[[Claim, StoredEvaluation], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class ShardExecution:
    """Executes shards of any evaluation; the same in whatever process.

    ``holder`` names this process to people; ``now`` is the time in seconds since 1970.
    """

    database: Database
    answerer: Answerer
    holder: str
    now: Callable[[], float]
    attempts: int
    pause_s: float
    lease_s: float
    heartbeat_s: float = HEARTBEAT_S
    observer: EvaluationObserver = field(default_factory=EvaluationObserver)

    async def claim(self, key: ShardKey) -> Claim | None:
        """The shard, held by this process; None where another holds it, or nothing of it is left.

        Raises:
            BackendUnavailable: the database does not answer.
        """
        claiming = asyncio.ensure_future(
            shards.claim(
                *(self.database, key),
                holder=self.holder,
                now=self.database.clock,
                lease_s=self.lease_s,
            )
        )
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # It is ours by now, or will be in a moment, and nobody would know.
            await self.database.finished(self._give_back(claiming))
            raise

    async def _give_back(self, claiming: Awaitable[Claim | None]) -> None:
        if held := await claiming:
            await shards.release(self.database, held)

    async def settle(
        self, held: Claim, turns: Turns, *, last_begun: Callable[[], None] = lambda: None
    ) -> None:
        """Asks what is left of a shard, and gives it back.

        ``last_begun`` is called when the last of its questions has its turn. Where it ends early,
        by an error or cancelled, what was answered is kept.

        Raises:
            BackendUnavailable: the database does not answer.
        """
        with in_call(CallContext()), ShardTelling(self.observer, held) as telling:
            await self._settle(held, telling, partial(self._ask, turns=turns, begun=last_begun))

    async def _settle(self, held: Claim, telling: ShardTelling, ask: _Ask) -> None:
        try:
            stored = await numbered_evaluation(self.database, held.key.evaluation)
            telling.begin(stored)
            if await self._while_held(held, ask(held, stored)):
                await shards.finish(self.database, held)
                telling.end = ShardEnd.FINISHED
            else:
                telling.end = ShardEnd.DROPPED
        except (BackendUnavailable, Overloaded):
            # The database: whoever is next finds the lease over.
            telling.end = ShardEnd.DATABASE_AWAY
            raise
        except ScaarError as error:
            # Another try would end the same way.
            telling.end = ShardEnd.REFUSED
            why = EvaluationError(error.reason, error.message)
            await transitions.fail(self.database, held.key.evaluation, why, now=self.now())
        except asyncio.CancelledError:
            telling.end = ShardEnd.GIVEN_BACK
            await shards.release(self.database, held)
            raise
        except BaseException:
            await shards.release(self.database, held, faulty=True)
            raise

    async def _while_held(self, held: Claim, ask: Coroutine[Any, Any, None]) -> bool:
        """Asks for as long as the shard is held; whether it came to its end."""
        asking = asyncio.create_task(ask)
        holding = asyncio.create_task(self._hold(held))
        try:
            await asyncio.wait({asking, holding}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                asking.result()
                return True
            holding.result()
            return False
        finally:
            await stopped((asking, holding))

    async def _hold(self, held: Claim) -> None:
        """Returns when the shard is no more held."""
        until = time.monotonic() + self.lease_s
        while True:
            await asyncio.sleep(self.heartbeat_s)
            now = time.monotonic()
            try:
                renewed = self.database.clock + self.lease_s
                if not await shards.renew(self.database, held, until=renewed):
                    return
            except BackendUnavailable:
                if now > until:
                    return
            else:
                until = now + self.lease_s

    async def _ask(
        self, held: Claim, stored: StoredEvaluation, *, turns: Turns, begun: Callable[[], None]
    ) -> None:
        number, asked = stored.number, stored.asked
        running = await transitions.begun_of(self.database, number)
        questions = await questions_of(self.database, number, first=held.first, last=held.last)
        store = ShardPredictions(
            self.database,
            number,
            first=held.first,
            questions=questions,
            settings=asked.settings,
            kind=kind_of(asked.dataset.name),
            attempts=self.attempts,
        )
        template = template_of(asked, stored.request_id)
        template = replace(template, prompt_profile=running.prompt_profile)
        plan, pause_s = tuple(plan_work(asked.settings, questions)), self.pause_s
        while left := work_left(plan, await store.known()):
            await run_shard(
                self.answerer,
                left,
                store,
                template=template,
                expected=running.evaluation.provenance,
                turns=turns,
                told=self._tell,
                last_begun=begun,
            )
            if work_left(plan, await store.known()):
                await asyncio.sleep(pause_s)
                pause_s = min(LONGEST_PAUSE_S, pause_s * 2)

    def _tell(self, prediction: Prediction) -> None:
        failure = prediction.failure
        self.observer.question_settled("" if failure is None else failure.reason)
