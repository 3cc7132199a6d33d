"""Leases of the shards of evaluations.

A lease has an expiry time and the number of its attempt. A holder whose lease expired finds the
number changed and gives up, whatever its clock says. A shard that is executed twice does no harm,
since every prediction has one row.
"""

from dataclasses import dataclass

import sqlalchemy as sa

from scaar.core.evaluations import EvaluationState
from scaar.database.database import Database, run_to_end
from scaar.evaluator.store.database.tables import EVALUATIONS, SHARDS

Time = float | sa.ColumnElement[float]
"""Seconds since 1970, or an SQL expression for them: all processes use the database's clock."""


@dataclass(frozen=True, slots=True)
class ShardKey:
    """The key of a shard: the number of its evaluation, and its own number there."""

    evaluation: int
    number: int


@dataclass(frozen=True, slots=True)
class FreeShard:
    """A shard without a lease, and how often its holder was lost."""

    key: ShardKey
    faults: int


@dataclass(frozen=True, slots=True)
class ShardLease:
    """A leased shard: its question positions [first, last), and the number of the attempt."""

    key: ShardKey
    attempt: int
    first: int
    last: int


@run_to_end
async def free_shards(
    database: Database, evaluation: int, *, now: Time, lease_s: float, limit: int | None = None
) -> tuple[FreeShard, ...]:
    """Return the first ``limit`` unfinished shards of an evaluation without a lease."""
    chosen = (
        sa.select(SHARDS.c.number, SHARDS.c.faults)
        .where(SHARDS.c.evaluation == evaluation, ~SHARDS.c.done, _free(now, lease_s))
        .order_by(SHARDS.c.number)
        .limit(limit)
    )
    async with database.reading() as connection:
        rows = (await connection.execute(chosen)).all()
    return tuple(FreeShard(ShardKey(evaluation, number), faults) for number, faults in rows)


@run_to_end
async def claim(
    database: Database, key: ShardKey, *, holder: str, now: Time, lease_s: float
) -> ShardLease | None:
    """Lease a shard; None if another process holds it, or nothing of it is left to do."""
    # An expired lease means that its holder was lost.
    lost = sa.case((SHARDS.c.lease_until.is_not(None), 1), else_=0)
    taken = (
        _of(key)
        .where(~SHARDS.c.done, _free(now, lease_s), _running(key))
        .values(
            attempt=SHARDS.c.attempt + 1,
            faults=SHARDS.c.faults + lost,
            holder=holder[:128],
            lease_until=now + lease_s,
        )
        .returning(SHARDS.c.attempt, SHARDS.c.first, SHARDS.c.last)
    )
    async with database.writing() as connection:
        row = (await connection.execute(taken)).one_or_none()
    return None if row is None else ShardLease(key, row[0], row[1], row[2])


@run_to_end
async def renew(database: Database, lease: ShardLease, *, until: Time) -> bool:
    """Extend the lease; False if it is no longer valid, or the evaluation has ended."""
    # A released shard has no lease to extend.
    valid = SHARDS.c.lease_until.is_not(None)
    renewed = _leased(lease).where(valid, _running(lease.key)).values(lease_until=until)
    async with database.writing() as connection:
        return (await connection.execute(renewed)).rowcount == 1


@run_to_end
async def release(database: Database, lease: ShardLease, *, faulty: bool = False) -> None:
    """Release an unfinished shard for other processes; no-op without the lease."""
    faults = SHARDS.c.faults + int(faulty)
    given = _leased(lease).values(holder=None, lease_until=None, faults=faults)
    async with database.writing() as connection:
        await connection.execute(given)


@run_to_end
async def release_all(database: Database) -> None:
    """Release every unfinished shard, when no other process can hold one."""
    lost = SHARDS.c.lease_until.is_not(None)
    given = sa.update(SHARDS).where(~SHARDS.c.done, lost).values(holder=None, lease_until=None)
    async with database.writing() as connection:
        await connection.execute(given)


@run_to_end
async def finish(database: Database, lease: ShardLease) -> None:
    """Mark a shard as finished; no-op without the lease."""
    done = _leased(lease).values(done=True, holder=None, lease_until=None)
    async with database.writing() as connection:
        await connection.execute(done)


def _of(key: ShardKey) -> sa.Update:
    return sa.update(SHARDS).where(
        SHARDS.c.evaluation == key.evaluation, SHARDS.c.number == key.number
    )


def _leased(lease: ShardLease) -> sa.Update:
    return _of(lease.key).where(~SHARDS.c.done, SHARDS.c.attempt == lease.attempt)


def _free(now: Time, lease_s: float) -> sa.ColumnElement[bool]:
    # A lease beyond the maximum comes from a clock that was set back since.
    until = SHARDS.c.lease_until
    return sa.or_(until.is_(None), until < now, until > now + 2 * lease_s)


def _running(key: ShardKey) -> sa.ColumnElement[bool]:
    return sa.exists().where(
        EVALUATIONS.c.number == key.evaluation,
        EVALUATIONS.c.state == EvaluationState.RUNNING.value,
    )
