"""How many evaluations there are in each state, and how many of their shards wait."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from scaar.core.evaluations import EvaluationState
from scaar.evaluator.store.database.opening import Database, to_its_end
from scaar.evaluator.store.database.tables import EVALUATIONS, SHARDS


@dataclass(frozen=True, slots=True)
class EvaluationCounts:
    """So many in every state, 0 too; when the oldest queued one was made, None without any."""

    by_state: Mapping[EvaluationState, int]
    oldest_queued_at: float | None


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """Shards of running evaluations that are not done: those that nobody holds, and the others."""

    waiting: int
    held: int


@to_its_end
async def count_evaluations(database: Database) -> EvaluationCounts:
    """Those of all tenants."""
    counted = sa.select(
        EVALUATIONS.c.state, sa.func.count(), sa.func.min(EVALUATIONS.c.created_at)
    ).group_by(EVALUATIONS.c.state)
    async with database.reading() as connection:
        rows = (await connection.execute(counted)).all()
    found = {EvaluationState(state): (count, oldest) for state, count, oldest in rows}
    none = (0, None)
    return EvaluationCounts(
        {state: found.get(state, none)[0] for state in EvaluationState},
        found.get(EvaluationState.QUEUED, none)[1],
    )


@to_its_end
async def count_shards(database: Database) -> ShardCounts:
    """Those of all evaluations that run; one whose lease is over is held by nobody."""
    held = sa.and_(SHARDS.c.lease_until.is_not(None), SHARDS.c.lease_until >= database.clock)
    counted = (
        sa.select(sa.func.count(), sa.func.sum(sa.case((held, 1), else_=0)))
        .select_from(SHARDS.join(EVALUATIONS, EVALUATIONS.c.number == SHARDS.c.evaluation))
        .where(EVALUATIONS.c.state == EvaluationState.RUNNING.value, ~SHARDS.c.done)
    )
    async with database.reading() as connection:
        every, under_way = (await connection.execute(counted)).one()
    held_now = int(under_way or 0)
    return ShardCounts(waiting=every - held_now, held=held_now)
