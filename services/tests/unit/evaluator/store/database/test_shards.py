from scaar.database.database import Database
from scaar.evaluator.store.database.shards import (
    ShardKey,
    claim,
    finish,
    free_shards,
    release,
    renew,
)
from scaar.evaluator.store.database.transitions import cancel

from .stored import queued, running


async def free(database: Database, key: ShardKey, now: float) -> list[tuple[int, int]]:
    found = await free_shards(database, key.evaluation, now=now, lease_s=10.0)
    return [(each.key.number, each.faults) for each in found]


async def test_a_shard_has_one_holder_until_its_lease_expires(database: Database) -> None:
    key = await running(database)
    assert await free(database, key, 0.0) == [(0, 0), (1, 0)]
    held = await claim(database, key, holder="one", now=0.0, lease_s=10.0)
    assert held is not None
    assert (held.first, held.last, held.attempt) == (0, 1, 1)
    assert await claim(database, key, holder="two", now=9.0, lease_s=11.0) is None
    assert await free(database, key, 9.0) == [(1, 0)]
    assert await renew(database, held, until=30.0)
    assert await claim(database, key, holder="two", now=29.0, lease_s=11.0) is None
    taken = await claim(database, key, holder="two", now=31.0, lease_s=9.0)
    assert taken is not None
    assert taken.attempt == 2


async def test_a_late_renewal_does_not_lease_a_released_shard(database: Database) -> None:
    key = await running(database)
    held = await claim(database, key, holder="one", now=0.0, lease_s=10.0)
    assert held is not None
    await release(database, held)
    assert not await renew(database, held, until=30.0)
    assert await free(database, key, 1.0) == [(0, 0), (1, 0)]


async def test_a_holder_with_an_expired_lease_changes_nothing(database: Database) -> None:
    key = await running(database)
    paused = await claim(database, key, holder="one", now=0.0, lease_s=10.0)
    taken = await claim(database, key, holder="two", now=11.0, lease_s=9.0)
    assert paused is not None
    assert taken is not None
    assert not await renew(database, paused, until=99.0)
    await release(database, paused)
    await finish(database, paused)
    assert await free(database, key, 12.0) == [(1, 0)]
    await finish(database, taken)
    assert await free(database, key, 99.0) == [(1, 0)]


async def test_a_holder_that_was_lost_is_counted_and_one_that_gives_back_is_not(
    database: Database,
) -> None:
    key = await running(database)
    held = await claim(database, key, holder="one", now=0.0, lease_s=10.0)
    assert held is not None
    await release(database, held)
    assert await free(database, key, 1.0) == [(0, 0), (1, 0)]
    await claim(database, key, holder="one", now=1.0, lease_s=9.0)
    lost = await claim(database, key, holder="two", now=11.0, lease_s=9.0)
    assert lost is not None
    await release(database, lost, faulty=True)
    assert await free(database, key, 12.0) == [(0, 2), (1, 0)]


async def test_only_shards_of_a_running_evaluation_can_be_leased(
    database: Database,
) -> None:
    key = await running(database)
    held = await claim(database, key, holder="one", now=0.0, lease_s=10.0)
    assert held is not None
    assert await cancel(database, key.evaluation, now=1.0)
    assert not await renew(database, held, until=20.0)
    assert (
        await claim(database, ShardKey(key.evaluation, 1), holder="x", now=0, lease_s=1.0) is None
    )
    waiting = await queued(database, "b")
    assert (
        await claim(database, ShardKey(waiting.number, 0), holder="x", now=0, lease_s=1.0) is None
    )


async def test_a_lease_of_a_clock_that_was_set_back_is_ignored(
    database: Database,
) -> None:
    key = await running(database)
    await claim(database, key, holder="one", now=5_000.0, lease_s=10.0)
    taken = await claim(database, key, holder="two", now=100.0, lease_s=10.0)
    assert taken is not None
    assert taken.attempt == 2
