"""State transitions of evaluations; each happens once, whichever process tries it."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from scaar.core.errors import DataCorrupt
from scaar.core.evaluations import EvaluationError, EvaluationState
from scaar.evaluator.results import Evaluation
from scaar.evaluator.specification import PlannedSettings
from scaar.evaluator.store.database.database import Database, run_to_end
from scaar.evaluator.store.database.evaluations import UNFINISHED
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
    stored = (
        sa.select(sa.func.count())
        .select_from(PREDICTIONS)
        .where(PREDICTIONS.c.evaluation == number, PREDICTIONS.c.settled)
        .scalar_subquery()
    )
    complete = _of(number, EvaluationState.RUNNING.value).where(EVALUATIONS.c.total == stored)
    ended = complete.values(state=EvaluationState.SUCCEEDED.value, ended_at=now)
    async with database.writing() as connection:
        return (await connection.execute(ended)).rowcount == 1


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
