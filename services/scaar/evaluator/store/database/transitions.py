"""From one state of an evaluation to the next: each happens once, whoever tries it."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from scaar.core.errors import DataCorrupt
from scaar.core.evaluations import EvaluationError, EvaluationState
from scaar.evaluator.results import Evaluation
from scaar.evaluator.store.database.evaluations import UNFINISHED
from scaar.evaluator.store.database.opening import Database, to_its_end
from scaar.evaluator.store.database.tables import EVALUATIONS, PREDICTIONS, SHARDS
from scaar.evaluator.store.record_json import RecordJson

_EVALUATION = RecordJson(Evaluation)


@dataclass(frozen=True, slots=True)
class Begun:
    """What answers in an evaluation, and the prompt profile that it is asked with."""

    evaluation: Evaluation
    prompt_profile: str


@to_its_end
async def begin(
    database: Database,
    number: int,
    begun: Begun,
    *,
    shards: Sequence[tuple[int, int]],
    now: float,
) -> bool:
    """Has a queued evaluation run, in shards of these positions; false where it is not queued."""
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
    async with database.writing() as connection:
        changed = await connection.execute(
            _of(number, EvaluationState.QUEUED.value).values(
                state=EvaluationState.RUNNING.value,
                evaluation=_EVALUATION.line(begun.evaluation).decode(),
                prompt_profile=begun.prompt_profile,
                started_at=now,
            )
        )
        if changed.rowcount != 1:
            return False
        await connection.execute(sa.insert(SHARDS), rows)
    return True


@to_its_end
async def begun_of(database: Database, number: int) -> Begun:
    """What answers in an evaluation that has been begun.

    Raises:
        DataCorrupt: it has not.
    """
    chosen = sa.select(EVALUATIONS.c.evaluation, EVALUATIONS.c.prompt_profile)
    async with database.reading() as connection:
        row = (await connection.execute(chosen.where(EVALUATIONS.c.number == number))).one_or_none()
    if row is None or row[0] is None:
        raise DataCorrupt(f"evaluation number {number} has not been begun")
    return Begun(_EVALUATION.read(row[0].encode(), f"evaluation number {number}"), row[1])


@to_its_end
async def succeed_if_whole(database: Database, number: int, *, now: float) -> bool:
    """Ends a running evaluation of which every prediction is there; whether it did."""
    there = (
        sa.select(sa.func.count())
        .select_from(PREDICTIONS)
        .where(PREDICTIONS.c.evaluation == number, PREDICTIONS.c.settled)
        .scalar_subquery()
    )
    whole = _of(number, EvaluationState.RUNNING.value).where(EVALUATIONS.c.wanted == there)
    ended = whole.values(state=EvaluationState.SUCCEEDED.value, ended_at=now)
    async with database.writing() as connection:
        return (await connection.execute(ended)).rowcount == 1


@to_its_end
async def fail(database: Database, number: int, error: EvaluationError, *, now: float) -> bool:
    """Ends an unfinished evaluation by an error; whether it did."""
    ended = _of(number, *UNFINISHED).values(
        state=EvaluationState.FAILED.value,
        ended_at=now,
        error_reason=error.reason[:64],
        error_message=error.message,
    )
    async with database.writing() as connection:
        return (await connection.execute(ended)).rowcount == 1


@to_its_end
async def cancel(database: Database, number: int, *, now: float) -> bool:
    """Ends an unfinished evaluation; whether it did."""
    ended = _of(number, *UNFINISHED).values(state=EvaluationState.CANCELLED.value, ended_at=now)
    async with database.writing() as connection:
        return (await connection.execute(ended)).rowcount == 1


@to_its_end
async def forget_ended(database: Database, *, before: float) -> int:
    """Takes away, with all that is of them, evaluations that ended before that; how many."""
    gone = sa.delete(EVALUATIONS).where(
        EVALUATIONS.c.state.not_in(UNFINISHED), EVALUATIONS.c.ended_at < before
    )
    async with database.writing() as connection:
        return (await connection.execute(gone)).rowcount


def _of(number: int, *states: str) -> sa.Update:
    return sa.update(EVALUATIONS).where(
        EVALUATIONS.c.number == number, EVALUATIONS.c.state.in_(states)
    )
