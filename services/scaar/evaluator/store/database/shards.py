"""Shards of evaluations: who holds one, and until when.

A shard is held by a lease, and by the number of its attempt: who was away past the lease finds that
number changed and gives up, whatever any clock says. That a shard is asked twice is no harm: of a
prediction there is one row.
"""

from dataclasses import dataclass

import sqlalchemy as sa

from scaar.core.evaluations import EvaluationState
from scaar.evaluator.store.database.opening import Database, to_its_end
from scaar.evaluator.store.database.tables import EVALUATIONS, SHARDS

Time = float | sa.ColumnElement[float]
"""Seconds since 1970, or what gives them in a statement: the database's clock is everyone's."""


@dataclass(frozen=True, slots=True)
class ShardKey:
    """A shard: the number of its evaluation, and its own there."""

    evaluation: int
    number: int


@dataclass(frozen=True, slots=True)
class FreeShard:
    """A shard that nobody holds, and how often its holder was lost."""

    key: ShardKey
    faults: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A shard that is held: its questions' positions [first, last), and which attempt it is."""

    key: ShardKey
    attempt: int
    first: int
    last: int


@to_its_end
async def free_shards(
    database: Database, evaluation: int, *, now: Time, lease_s: float, most: int | None = None
) -> tuple[FreeShard, ...]:
    """Those of an evaluation that are not done and that nobody holds, the first so many of them."""
    chosen = (
        sa.select(SHARDS.c.number, SHARDS.c.faults)
        .where(SHARDS.c.evaluation == evaluation, ~SHARDS.c.done, _unheld(now, lease_s))
        .order_by(SHARDS.c.number)
        .limit(most)
    )
    async with database.reading() as connection:
        rows = (await connection.execute(chosen)).all()
    return tuple(FreeShard(ShardKey(evaluation, number), faults) for number, faults in rows)


@to_its_end
async def claim(
    database: Database, key: ShardKey, *, holder: str, now: Time, lease_s: float
) -> Claim | None:
    """The shard, held for so long; None where another holds it, or there is nothing to do of it."""
    # A lease that ran out is a holder that was lost.
    lost = sa.case((SHARDS.c.lease_until.is_not(None), 1), else_=0)
    taken = (
        _of(key)
        .where(~SHARDS.c.done, _unheld(now, lease_s), _running(key))
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
    return None if row is None else Claim(key, row[0], row[1], row[2])


@to_its_end
async def renew(database: Database, held: Claim, *, until: Time) -> bool:
    """Holds it until then; false where it is no more held, or its evaluation has ended."""
    # One that was given back in the meantime is nobody's.
    leased = SHARDS.c.lease_until.is_not(None)
    renewed = _held(held).where(leased, _running(held.key)).values(lease_until=until)
    async with database.writing() as connection:
        return (await connection.execute(renewed)).rowcount == 1


@to_its_end
async def release(database: Database, held: Claim, *, faulty: bool = False) -> None:
    """Gives it back unfinished, for anyone to take at once; no word of it where it is not held."""
    faults = SHARDS.c.faults + int(faulty)
    given = _held(held).values(holder=None, lease_until=None, faults=faults)
    async with database.writing() as connection:
        await connection.execute(given)


@to_its_end
async def finish(database: Database, held: Claim) -> None:
    """Says that nothing of it is left to do; no word of it where it is not held."""
    done = _held(held).values(done=True, holder=None, lease_until=None)
    async with database.writing() as connection:
        await connection.execute(done)


def _of(key: ShardKey) -> sa.Update:
    return sa.update(SHARDS).where(
        SHARDS.c.evaluation == key.evaluation, SHARDS.c.number == key.number
    )


def _held(held: Claim) -> sa.Update:
    return _of(held.key).where(~SHARDS.c.done, SHARDS.c.attempt == held.attempt)


def _unheld(now: Time, lease_s: float) -> sa.ColumnElement[bool]:
    # A lease that is longer than any is of a clock that was set back since.
    until = SHARDS.c.lease_until
    return sa.or_(until.is_(None), until < now, until > now + 2 * lease_s)


def _running(key: ShardKey) -> sa.ColumnElement[bool]:
    return sa.exists().where(
        EVALUATIONS.c.number == key.evaluation,
        EVALUATIONS.c.state == EvaluationState.RUNNING.value,
    )
