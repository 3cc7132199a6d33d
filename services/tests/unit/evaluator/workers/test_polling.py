"""A worker that finds shards in the database, without a broker."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.database.database import Database, open_database
from scaar.database.migration import upgrade
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.database import shards
from scaar.evaluator.store.database.evaluations import NewEvaluation, add_evaluation
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.shards import ShardKey, claim, finish, free_shards, release
from scaar.evaluator.store.database.transitions import StartedEvaluation, cancel, start
from scaar.evaluator.workers.polling import ShardPoller
from scaar.testing.evaluations import EVALUATION, QUESTIONS, SETTINGS

LEASE_S = 30.0


@pytest.fixture
async def database(tmp_path: Path) -> Any:
    async with open_database(f"sqlite:///{tmp_path}/evaluations.sqlite", SCHEMA) as opened:
        await upgrade(opened)
        yield opened


async def running(database: Database, name: str) -> int:
    """The number of a running evaluation with a shard for each of its two questions."""
    spec = EvaluationSpec(EVALUATION.dataset, SETTINGS, "lab", 60.0)
    new = NewEvaluation(name, "default", name, spec, QUESTIONS, len(SETTINGS))
    stored = await add_evaluation(database, new, now=100.0, max_unfinished=9)
    started = StartedEvaluation(EVALUATION, "lab-1")
    assert await start(database, stored.number, started, shards=((0, 1), (1, 2)), now=101.0)
    return stored.number


class Sequence:
    """Finishes each shard immediately, and records it; the first calls raise the given error."""

    def __init__(self, database: Database, *, fails: int = 0) -> None:
        self.execution = SimpleNamespace(database=database, lease_s=LEASE_S)
        self.executed: list[ShardKey] = []
        self.ended = asyncio.Event()
        self._fails = fails

    async def execute(self, key: ShardKey) -> None:
        if self._fails:
            self._fails -= 1
            raise BackendUnavailable("the database is away")
        database = self.execution.database
        lease = await claim(database, key, holder="test", now=database.clock, lease_s=LEASE_S)
        assert lease is not None
        self.executed.append(key)
        await finish(database, lease)
        if len(self.executed) == 4:
            self.ended.set()


async def polled(sequence: Any) -> None:
    """Polls until all shards of two evaluations are executed."""
    task = asyncio.create_task(ShardPoller(sequence, max_faults=2, shard_s=60.0, poll_s=0.01).run())
    try:
        async with asyncio.timeout(60):
            await sequence.ended.wait()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("fails", [0, 2])
async def test_running_evaluations_take_turns_until_no_shard_is_free(
    database: Database, fails: int
) -> None:
    first, second = [await running(database, name) for name in "ab"]
    sequence = Sequence(database, fails=fails)
    await polled(sequence)
    assert sorted((key.evaluation, key.number) for key in sequence.executed) == [
        (number, at) for number in (first, second) for at in (0, 1)
    ]
    of = [key.evaluation for key in sequence.executed]
    assert of[0] != of[1] != of[2] != of[3]


async def test_leased_faulty_and_cancelled_shards_are_left(database: Database) -> None:
    number, cancelled = [await running(database, name) for name in "ab"]
    assert await cancel(database, cancelled, now=102.0)
    sequence: Any = Sequence(database)
    poller = ShardPoller(sequence, max_faults=1, shard_s=60.0)
    keys = [
        each.key
        for each in await free_shards(database, number, now=database.clock, lease_s=LEASE_S)
    ]
    assert await poller._free_shard() in keys
    leases = [
        await shards.claim(database, key, holder="other", now=database.clock, lease_s=LEASE_S)
        for key in keys
    ]
    assert await poller._free_shard() is None
    assert leases[0] is not None
    await release(database, leases[0], faulty=True)
    assert await poller._free_shard() is None
    assert leases[1] is not None
    await release(database, leases[1])
    assert await poller._free_shard() == keys[1]


async def test_a_turn_ends_after_its_time(database: Database) -> None:
    number = await running(database, "a")
    held = asyncio.Event()

    class Endless(Sequence):
        async def execute(self, key: ShardKey) -> None:
            self.executed.append(key)
            if len(self.executed) == 2:
                held.set()
            await asyncio.Event().wait()

    sequence: Any = Endless(database)
    task = asyncio.create_task(ShardPoller(sequence, max_faults=2, shard_s=0.01, poll_s=0.01).run())
    try:
        async with asyncio.timeout(60):
            await held.wait()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert {key.evaluation for key in sequence.executed} == {number}
