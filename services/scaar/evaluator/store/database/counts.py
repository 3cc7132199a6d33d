"""Counts of evaluations by state, and of waiting and leased shards."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from scaar.core.evaluations import EvaluationState
from scaar.database.database import Database, run_to_end
from scaar.evaluator.store.database.tables import EVALUATIONS, SHARDS


@dataclass(frozen=True, slots=True)
class EvaluationCounts:
    """The number of evaluations in every state, and the creation time of the oldest queued one."""

    by_state: Mapping[EvaluationState, int]
    oldest_queued_at: float | None


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """The numbers of unfinished shards of running evaluations, without and with a lease."""

    waiting: int
    leased: int


@run_to_end
async def count_evaluations(database: Database) -> EvaluationCounts:
    """Count the evaluations of all tenants, without first passes."""
    counted = (
        sa.select(EVALUATIONS.c.state, sa.func.count(), sa.func.min(EVALUATIONS.c.created_at))
        .where(EVALUATIONS.c.parent.is_(None))
        .group_by(EVALUATIONS.c.state)
    )
    async with database.reading() as connection:
        rows = (await connection.execute(counted)).all()
    found = {EvaluationState(state): (count, oldest) for state, count, oldest in rows}
    none = (0, None)
    return EvaluationCounts(
        {state: found.get(state, none)[0] for state in EvaluationState},
        found.get(EvaluationState.QUEUED, none)[1],
    )


@run_to_end
async def count_shards(database: Database) -> ShardCounts:
    """Count the shards of all running evaluations; an expired lease does not count."""
    leased = sa.and_(SHARDS.c.lease_until.is_not(None), SHARDS.c.lease_until >= database.clock)
    counted = (
        sa.select(sa.func.count(), sa.func.sum(sa.case((leased, 1), else_=0)))
        .select_from(SHARDS.join(EVALUATIONS, EVALUATIONS.c.number == SHARDS.c.evaluation))
        .where(EVALUATIONS.c.state == EvaluationState.RUNNING.value, ~SHARDS.c.done)
    )
    async with database.reading() as connection:
        total, found = (await connection.execute(counted)).one()
    count = int(found or 0)
    return ShardCounts(waiting=total - count, leased=count)
