"""The execution of a shard: leased, answered until every prediction is final, and released."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Self

from scaar.core.calls.context import CallContext, in_call, name_request
from scaar.core.errors import BackendUnavailable, Overloaded, ScaarError
from scaar.core.evaluations import EvaluationError
from scaar.core.observers import EvaluationObserver, ShardEnd
from scaar.core.ports import Answerer
from scaar.database.database import Database
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.execution.items import QuestionLimiter
from scaar.evaluator.execution.scorers import Answerers, Controls
from scaar.evaluator.execution.shard import run_shard
from scaar.evaluator.oracles import in_world
from scaar.evaluator.planning.work import plan_work, remaining_work
from scaar.evaluator.records import Prediction
from scaar.evaluator.service.request_plan import requested_answerers
from scaar.evaluator.specification import template_of
from scaar.evaluator.store.database import shards, transitions
from scaar.evaluator.store.database.evaluations import (
    StoredEvaluation,
    numbered_evaluation,
    questions_of,
)
from scaar.evaluator.store.database.predictions import ShardPredictions
from scaar.evaluator.store.database.shards import ShardKey, ShardLease

_LOGGER = logging.getLogger("scaar.shards")


class ShardLog:
    """Reports that a shard was leased and, at the end of the block, its outcome and duration.

    ``end`` is the outcome, a fault unless it is set.
    """

    def __init__(
        self,
        observer: EvaluationObserver,
        lease: ShardLease,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.end = ShardEnd.FAULT
        self._observer = observer
        self._lease = lease
        self._clock = clock
        self._started = clock()
        self._name = f"shard {lease.key.number} of evaluation number {lease.key.evaluation}"

    def start(self, stored: StoredEvaluation) -> None:
        """Log the lease; later log messages carry the request id of the evaluation."""
        name_request(stored.request_id)
        self._name = f"shard {self._lease.key.number} of evaluation {stored.id}"
        first, last, attempt = self._lease.first, self._lease.last, self._lease.attempt
        _LOGGER.info(
            "%s: leased, questions %d to %d, attempt %d", self._name, first, last - 1, attempt
        )

    def __enter__(self) -> Self:
        self._observer.on_shard_leased()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        seconds = self._clock() - self._started
        self._observer.on_shard_released(self.end, seconds=seconds)
        _LOGGER.info("%s: %s after %.1f s", self._name, self.end.value, seconds)


HEARTBEAT_S = 1.0
"""Interval in seconds at which a lease is renewed; a lost or cancelled shard is left within it."""
MAX_PAUSE_S = 30.0
"""Maximum delay in seconds before failed questions are tried again."""

_Answer = Callable[[ShardLease, StoredEvaluation], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class ShardExecution:
    """Executes shards of any evaluation, in any process.

    ``holder`` is a readable name of this process; ``now`` returns the time in seconds since 1970.
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
    controls: Controls = field(default_factory=dict)
    cached: Answerers | None = None
    """Answerers with cached generations, for evaluations that request them."""
    on_stored: Callable[[Prediction], None] = lambda _: None
    """Called for each prediction once it is stored."""

    async def claim(self, key: ShardKey) -> ShardLease | None:
        """Lease a shard; None if another process holds it, or nothing of it is left to do.

        Raises:
            BackendUnavailable: the database does not respond.
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
            # The lease may already be granted: release it.
            await self.database.shielded(self._release(claiming))
            raise

    async def _release(self, claiming: Awaitable[ShardLease | None]) -> None:
        if lease := await claiming:
            await shards.release(self.database, lease)

    async def settle(
        self,
        lease: ShardLease,
        limiter: QuestionLimiter,
        *,
        on_last_started: Callable[[], None] = lambda: None,
    ) -> None:
        """Answer the remaining questions of a shard, and release it.

        ``on_last_started`` is called when the last question has started. After an error or a
        cancellation stored predictions are kept.

        Raises:
            BackendUnavailable: the database does not respond.
        """
        with in_call(CallContext()), ShardLog(self.observer, lease) as log:
            answer = partial(self._answer, limiter=limiter, on_last_started=on_last_started)
            await self._settle(lease, log, answer)

    async def _settle(self, lease: ShardLease, log: ShardLog, answer: _Answer) -> None:
        try:
            stored = await numbered_evaluation(self.database, lease.key.evaluation)
            log.start(stored)
            if await self._while_leased(lease, answer(lease, stored)):
                await shards.finish(self.database, lease)
                log.end = ShardEnd.FINISHED
            else:
                log.end = ShardEnd.DROPPED
        except (BackendUnavailable, Overloaded):
            # The database is away: the lease will expire.
            log.end = ShardEnd.DATABASE_UNAVAILABLE
            raise
        except ScaarError as error:
            # A retry would fail in the same way.
            log.end = ShardEnd.REFUSED
            why = EvaluationError(error.reason, error.message)
            await transitions.fail(self.database, lease.key.evaluation, why, now=self.now())
        except asyncio.CancelledError:
            log.end = ShardEnd.RELEASED
            await shards.release(self.database, lease)
            raise
        except BaseException:
            await shards.release(self.database, lease, faulty=True)
            raise

    async def _while_leased(self, lease: ShardLease, work: Coroutine[Any, Any, None]) -> bool:
        """Run the work while the lease is valid; return whether it ran to its end."""
        working = asyncio.create_task(work)
        renewing = asyncio.create_task(self._renew(lease))
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
                return True
            renewing.result()
            return False
        finally:
            await cancel_all((working, renewing))

    async def _renew(self, lease: ShardLease) -> None:
        """Renew the lease; return when it is lost."""
        until = time.monotonic() + self.lease_s
        while True:
            await asyncio.sleep(self.heartbeat_s)
            now = time.monotonic()
            try:
                renewed = self.database.clock + self.lease_s
                if not await shards.renew(self.database, lease, until=renewed):
                    return
            except BackendUnavailable:
                if now > until:
                    return
            else:
                until = now + self.lease_s

    async def _answer(
        self,
        lease: ShardLease,
        stored: StoredEvaluation,
        *,
        limiter: QuestionLimiter,
        on_last_started: Callable[[], None],
    ) -> None:
        number, spec = stored.number, stored.spec
        answerers = requested_answerers(spec, Answerers(self.answerer, self.controls), self.cached)
        started = await transitions.started_evaluation_of(self.database, number)
        questions = await questions_of(self.database, number, first=lease.first, last=lease.last)
        store = ShardPredictions(
            self.database,
            number,
            first=lease.first,
            questions=questions,
            settings=stored.settings,
            kind=kind_of(spec.dataset.name),
            attempts=self.attempts,
        )
        template = template_of(spec, stored.request_id)
        template = replace(template, prompt_profile=started.prompt_profile)
        plan, pause_s = tuple(plan_work(stored.settings, questions)), self.pause_s
        while remaining := remaining_work(plan, await store.known()):
            with in_world(spec.dataset):
                await run_shard(
                    answerers.answerer,
                    remaining,
                    store,
                    template=template,
                    expected=started.evaluation.provenance,
                    limiter=limiter,
                    controls=answerers.controls,
                    on_stored=self._report,
                    on_last_started=on_last_started,
                )
            if remaining_work(plan, await store.known()):
                await asyncio.sleep(pause_s)
                pause_s = min(MAX_PAUSE_S, pause_s * 2)

    def _report(self, prediction: Prediction) -> None:
        failure = prediction.failure
        self.observer.on_question_settled("" if failure is None else failure.reason)
        self.on_stored(prediction)
