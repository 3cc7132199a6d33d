"""State transitions of evaluations; each happens once, whichever process tries it."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from scaar.core.errors import DataCorrupt
from scaar.core.evaluations import EvaluationError, EvaluationState
from scaar.database.database import Database, run_to_end
from scaar.evaluator.results import Evaluation
from scaar.evaluator.specification import PlannedSettings
from scaar.evaluator.store.database.evaluations import (
    UNFINISHED,
    StoredEvaluation,
    lock_tenant,
    require_room,
)
from scaar.evaluator.store.database.tables import EVALUATIONS, PREDICTIONS, SHARDS
from scaar.evaluator.store.record_json import RecordJson

_EVALUATION = RecordJson(Evaluation)
_PLANNED = RecordJson(PlannedSettings)


@dataclass(frozen=True, slots=True)
class StartedEvaluation:
    """The settings and provenance of a started evaluation, and its prompt profile."""

    evaluation: Evaluation
    prompt_profile: str


@run_to_end
async def start(
    database: Database,
    number: int,
    started: StartedEvaluation,
    *,
    shards: Sequence[tuple[int, int]],
    now: float,
) -> bool:
    """Start a queued evaluation with shards of these positions; False if it is not queued."""
    rows = [
        {
            "evaluation": number,
            "number": at,
            "first": first,
            "last": last,
            "done": False,
            "attempt": 0,
            "faults": 0,
        }
        for at, (first, last) in enumerate(shards)
    ]
    evaluation = started.evaluation
    planned = PlannedSettings(evaluation.settings, evaluation.left_out)
    async with database.writing() as connection:
        changed = await connection.execute(
            _of(number, EvaluationState.QUEUED.value).values(
                state=EvaluationState.RUNNING.value,
                evaluation=_EVALUATION.line(evaluation).decode(),
                planned=_PLANNED.line(planned).decode(),
                total=evaluation.dataset.questions * len(evaluation.settings),
                prompt_profile=started.prompt_profile,
                started_at=now,
            )
        )
        if changed.rowcount != 1:
            return False
        await connection.execute(sa.insert(SHARDS), rows)
    return True


@run_to_end
async def started_evaluation_of(database: Database, number: int) -> StartedEvaluation:
    """Return the provenance and the prompt profile of a started evaluation.

    Raises:
        DataCorrupt: the evaluation has not started.
    """
    chosen = sa.select(EVALUATIONS.c.evaluation, EVALUATIONS.c.prompt_profile)
    async with database.reading() as connection:
        row = (await connection.execute(chosen.where(EVALUATIONS.c.number == number))).one_or_none()
    if row is None or row[0] is None:
        raise DataCorrupt(f"evaluation number {number} has not started")
    return StartedEvaluation(
        _EVALUATION.read(row[0].encode(), f"evaluation number {number}"), row[1]
    )


@run_to_end
async def succeed_if_complete(database: Database, number: int, *, now: float) -> bool:
    """End a running evaluation that has all predictions; return whether it ended."""
    complete = _of(number, EvaluationState.RUNNING.value).where(
        EVALUATIONS.c.total == _settled(number)
    )
    ended = complete.values(state=EvaluationState.SUCCEEDED.value, ended_at=now)
    async with database.writing() as connection:
        return (await connection.execute(ended)).rowcount == 1


def _settled(number: int) -> sa.ScalarSelect[int]:
    """The number of the stored predictions of an evaluation."""
    return (
        sa.select(sa.func.count())
        .select_from(PREDICTIONS)
        .where(PREDICTIONS.c.evaluation == number, PREDICTIONS.c.settled)
        .scalar_subquery()
    )


@run_to_end
async def fail(database: Database, number: int, error: EvaluationError, *, now: float) -> bool:
    """End an unfinished evaluation with an error; return whether it ended."""
    ended = _of(number, *UNFINISHED).values(
        state=EvaluationState.FAILED.value,
        ended_at=now,
        error_reason=error.reason[:64],
        error_message=error.message,
    )
    async with database.writing() as connection:
        return (await connection.execute(ended)).rowcount == 1


@run_to_end
async def cancel(database: Database, number: int, *, now: float) -> bool:
    """Cancel an unfinished evaluation and its first pass; return whether it was cancelled."""
    cancelled = {"state": EvaluationState.CANCELLED.value, "ended_at": now}
    first_pass = sa.update(EVALUATIONS).where(
        EVALUATIONS.c.parent == number, EVALUATIONS.c.state.in_(UNFINISHED)
    )
    async with database.writing() as connection:
        ended = await connection.execute(_of(number, *UNFINISHED).values(cancelled))
        await connection.execute(first_pass.values(cancelled))
        return ended.rowcount == 1


@run_to_end
async def resume(
    database: Database, stored: StoredEvaluation, *, retry_failed: bool, max_unfinished: int
) -> bool:
    """Continue an ended evaluation; return whether there is anything left to do.

    With ``retry_failed``, failed predictions count as not made. The first pass of an evaluation
    that has not started is continued with it.

    Raises:
        Overloaded: the tenant has ``max_unfinished`` unfinished evaluations.
    """
    async with database.writing() as connection:
        await lock_tenant(connection, stored.tenant)
        if not await _has_work(connection, stored.number, retry_failed):
            return False
        await require_room(connection, stored.tenant, max_unfinished)
        passes = sa.select(EVALUATIONS.c.number).where(EVALUATIONS.c.parent == stored.number)
        numbers = [stored.number]
        if stored.planned is None:
            for number in (await connection.scalars(passes)).all():
                if await _has_work(connection, number, retry_failed):
                    numbers.append(number)
        for number in numbers:
            await _reopen(connection, number, retry_failed)
    return True


async def _has_work(connection: AsyncConnection, number: int, retry_failed: bool) -> bool:
    """Whether an evaluation has ended and lacks predictions, or has failed ones to retry."""
    ended = sa.select(EVALUATIONS.c.state, EVALUATIONS.c.total, _settled(number).label("stored"))
    row = (
        await connection.execute(ended.where(EVALUATIONS.c.number == number).with_for_update())
    ).one_or_none()
    if row is None or row.state in UNFINISHED:
        return False
    failed = sa.exists().where(
        PREDICTIONS.c.evaluation == number, PREDICTIONS.c.settled, PREDICTIONS.c.failed
    )
    has_failed = retry_failed and bool(await connection.scalar(sa.select(failed)))
    # Predictions of an evaluation that succeeded may have been deleted since.
    lacking = row.stored < row.total
    return has_failed or lacking or row.state != EvaluationState.SUCCEEDED.value


async def _reopen(connection: AsyncConnection, number: int, retry_failed: bool) -> None:
    if retry_failed:
        again = sa.update(PREDICTIONS).where(
            PREDICTIONS.c.evaluation == number, PREDICTIONS.c.settled, PREDICTIONS.c.failed
        )
        await connection.execute(again.values(settled=False, attempts=0))
    # A new attempt, so that no earlier holder still has the lease.
    free = {"done": False, "faults": 0, "holder": None, "lease_until": None}
    shards = sa.update(SHARDS).where(SHARDS.c.evaluation == number)
    await connection.execute(shards.values(**free, attempt=SHARDS.c.attempt + 1))
    started = EVALUATIONS.c.evaluation.is_not(None)
    state = sa.case((started, EvaluationState.RUNNING.value), else_=EvaluationState.QUEUED.value)
    evaluation = sa.update(EVALUATIONS).where(EVALUATIONS.c.number == number)
    await connection.execute(
        evaluation.values(state=state, ended_at=None, error_reason=None, error_message=None)
    )


@run_to_end
async def delete_ended(database: Database, *, before: float) -> int:
    """Delete evaluations that ended before a time, with all their rows; return their number."""
    gone = sa.delete(EVALUATIONS).where(
        EVALUATIONS.c.state.not_in(UNFINISHED), EVALUATIONS.c.ended_at < before
    )
    async with database.writing() as connection:
        return (await connection.execute(gone)).rowcount


def _of(number: int, *states: str) -> sa.Update:
    return sa.update(EVALUATIONS).where(
        EVALUATIONS.c.number == number, EVALUATIONS.c.state.in_(states)
    )
