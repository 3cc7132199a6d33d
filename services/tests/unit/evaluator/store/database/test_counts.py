import time

from scaar.core.evaluations import EvaluationState
from scaar.database.database import Database
from scaar.evaluator.store.database.counts import ShardCounts, count_evaluations, count_shards
from scaar.evaluator.store.database.shards import claim, finish, release
from scaar.evaluator.store.database.transitions import cancel

from .stored import queued, running


async def test_every_state_is_counted_and_the_oldest_that_is_queued(database: Database) -> None:
    assert (await count_evaluations(database)).oldest_queued_at is None
    for name, now in (("a", 30.0), ("b", 20.0), ("c", 10.0)):
        stored = await queued(database, name, now=now)
    await cancel(database, stored.number, now=40.0)
    await running(database, "d")
    found = await count_evaluations(database)
    assert found.oldest_queued_at == 20.0
    assert found.by_state == {
        EvaluationState.QUEUED: 2,
        EvaluationState.RUNNING: 1,
        EvaluationState.SUCCEEDED: 0,
        EvaluationState.FAILED: 0,
        EvaluationState.CANCELLED: 1,
    }


async def test_a_shard_waits_unless_it_is_leased_or_done(database: Database) -> None:
    assert await count_shards(database) == ShardCounts(waiting=0, leased=0)
    key = await running(database)
    now = time.time()
    held = await claim(database, key, holder="one", now=now, lease_s=600.0)
    assert held is not None
    assert await count_shards(database) == ShardCounts(waiting=1, leased=1)
    await release(database, held)
    lost = await claim(database, key, holder="two", now=now - 900.0, lease_s=600.0)
    assert lost is not None
    assert await count_shards(database) == ShardCounts(waiting=2, leased=0)
    await finish(database, lost)
    assert await count_shards(database) == ShardCounts(waiting=1, leased=0)
    await cancel(database, key.evaluation, now=now)
    assert await count_shards(database) == ShardCounts(waiting=0, leased=0)
