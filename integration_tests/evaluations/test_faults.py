"""Whatever dies while workers ask: every question is in the report once, as if nothing had died."""

import asyncio
import os
import signal
from collections import Counter

import pytest

from scaar.evaluator.store.database.shards import ShardKey
from scaar.evaluator.workers.queue import ShardQueue, build_application

from ..servers.postgresql.postgresql_server import PostgresqlServer
from ..servers.redis.redis_server import RedisServer
from ..servers.server_process import has_ended
from .processes import Orchestrator
from .scene import COUNT, POLICIES, Broker, Outcome, Scene, until

BROKERS = pytest.mark.parametrize(
    "broker_kind", ["none", "redis", pytest.param("rabbitmq", marks=pytest.mark.long)]
)
WITH_AND_WITHOUT_BROKER = pytest.mark.parametrize(
    "broker_kind", [pytest.param("none", marks=pytest.mark.long), "redis"]
)


@BROKERS
async def test_killing_a_process_during_a_question_loses_nothing(
    scene: Scene, undisturbed: Outcome
) -> None:
    await scene.start_worker()
    evaluation = await scene.begin_held()
    os.kill(scene.asking()[0], signal.SIGKILL)
    scene.orchestrator.let_go()
    assert await scene.succeeded(evaluation) == undisturbed


@WITH_AND_WITHOUT_BROKER
async def test_when_all_workers_are_killed_another_finishes(
    scene: Scene, undisturbed: Outcome
) -> None:
    await scene.start_worker()
    evaluation = await scene.begin_held()
    scene.workers[0].process.kill_with_children()
    scene.orchestrator.let_go()
    await scene.start_worker()
    assert await scene.succeeded(evaluation) == undisturbed


@WITH_AND_WITHOUT_BROKER
async def test_the_processes_of_a_worker_that_is_killed_end_with_it(
    scene: Scene, undisturbed: Outcome
) -> None:
    killed = await scene.start_worker()
    evaluation = await scene.begin_held()
    asking = killed.process.children()
    killed.process.kill()
    await until(lambda: all(has_ended(pid) for pid in asking))
    scene.orchestrator.let_go()
    await scene.start_worker()
    assert await scene.succeeded(evaluation) == undisturbed


@pytest.mark.parametrize(
    ("server", "broker_kind"),
    [
        ("broker", "redis"),
        ("broker", "durable_redis"),
        ("broker", "rabbitmq"),
        ("postgresql", "none"),
        ("postgresql", "redis"),
        ("orchestrator", "none"),
        ("orchestrator", "redis"),
    ],
)
async def test_evaluation_continues_when_a_server_killed_during_a_question_restarts(
    scene: Scene, undisturbed: Outcome, server: str
) -> None:
    killed: Broker | PostgresqlServer | Orchestrator = getattr(scene, server)
    await scene.start_worker()
    evaluation = await scene.begin_held()
    killed.process.kill_with_children()
    scene.orchestrator.let_go()
    await asyncio.to_thread(killed.start)
    assert await scene.succeeded(evaluation) == undisturbed


@pytest.mark.parametrize("broker_kind", ["durable_redis"])
async def test_a_broker_without_room_on_disk_holds_up_and_loses_nothing(
    scene: Scene, undisturbed: Outcome
) -> None:
    redis = scene.broker
    assert isinstance(redis, RedisServer)
    await scene.start_worker()
    redis.fill_disk()
    for _ in range(2):
        redis.execute("SET", "filler", "x")
    assert "MISCONF" in redis.execute("SET", "filler", "x")
    evaluation = await scene.begin()
    running = "SELECT count(*) FROM shards"
    await until(lambda: scene.reported(running) != "0")
    assert scene.asking() == []
    redis.free_disk()
    assert await scene.succeeded(evaluation) == undisturbed


@WITH_AND_WITHOUT_BROKER
async def test_a_worker_paused_past_its_lease_loses_its_shard(
    scene: Scene, undisturbed: Outcome
) -> None:
    sleeping = await scene.start_worker(worker_processes=1)
    evaluation = await scene.begin_held()
    (asking,) = scene.asking()
    sleeping.process.pause()
    os.kill(asking, signal.SIGSTOP)
    scene.orchestrator.let_go()
    await scene.start_worker(worker_processes=1)
    taken = "SELECT count(*) FROM shards WHERE attempt > 1"
    await until(lambda: scene.reported(taken) != "0")
    os.kill(asking, signal.SIGCONT)
    sleeping.process.resume()
    assert await scene.succeeded(evaluation) == undisturbed


@WITH_AND_WITHOUT_BROKER
async def test_a_worker_with_a_wrong_clock_neither_steals_nor_keeps_shards(
    scene: Scene, undisturbed: Outcome
) -> None:
    await scene.start_worker(ahead_s=3_600.0, worker_processes=1)
    evaluation = await scene.begin_held()
    await scene.start_worker(worker_processes=1)
    await scene.until_in_flight(4)
    scene.workers[0].process.kill_with_children()
    scene.orchestrator.let_go()
    assert await scene.succeeded(evaluation) == undisturbed
    assert scene.reported("SELECT max(attempt) FROM shards") == "2"


async def test_of_several_workers_one_leases_a_shard(scene: Scene, undisturbed: Outcome) -> None:
    for _ in range(2):
        await scene.start_worker()
    evaluation = await scene.begin_held()
    assert scene.broker is not None
    queue = ShardQueue(build_application(scene.broker.url))
    number = int(scene.reported("SELECT max(number) FROM evaluations"))
    for at in range(4):
        for _ in range(3):
            await queue.put(ShardKey(number, at))
    queue.close()
    scene.orchestrator.let_go()
    assert await scene.succeeded(evaluation) == undisturbed
    # The first question is asked before the others, to learn the provenance.
    requested = Counter(each for each in scene.orchestrator.requests if "number 0?" not in each)
    assert len(requested) == (COUNT - 1) * len(POLICIES)
    assert set(requested.values()) == {1}


@pytest.mark.parametrize("broker_kind", ["none"])
async def test_workers_without_a_broker_answer_every_question_once(
    scene: Scene, undisturbed: Outcome
) -> None:
    for _ in range(2):
        await scene.start_worker()
    assert await scene.succeeded(await scene.begin()) == undisturbed
    requested = Counter(each for each in scene.orchestrator.requests if "number 0?" not in each)
    assert set(requested.values()) == {1}
    assert scene.reported("SELECT max(attempt), max(faults) FROM shards") == "1|0"


async def test_a_question_that_cannot_be_answered_fails_after_three_tries_and_the_rest_go_on(
    scene: Scene, undisturbed_with_poison: Outcome
) -> None:
    await scene.start_worker()
    found = await scene.succeeded(await scene.begin(poison=True))
    assert found == undisturbed_with_poison
    failed = [each for each in found.predictions if each.failure is not None]
    assert {(each.question_id, each.answer) for each in failed} == {("q4", "")}
    assert len(failed) == len(POLICIES)
    assert all(value == 0.0 for each in failed for _, value in each.scores)
    tries = Counter(each for each in scene.orchestrator.requests if "poison" in each)
    assert set(tries.values()) == {3}


@pytest.mark.parametrize("most_calls", [1])
async def test_questions_wait_for_an_orchestrator_that_sheds_load(
    scene: Scene, undisturbed: Outcome
) -> None:
    await scene.start_worker()
    assert await scene.succeeded(await scene.begin()) == undisturbed


@BROKERS
async def test_a_stopping_worker_releases_its_shards(scene: Scene, undisturbed: Outcome) -> None:
    stopped = await scene.start_worker()
    evaluation = await scene.begin_held()
    os.kill(stopped.process.pid, signal.SIGTERM)
    assert await asyncio.to_thread(stopped.process.wait) == 0
    assert scene.asking() == []
    scene.orchestrator.let_go()
    await scene.start_worker()
    assert await scene.succeeded(evaluation) == undisturbed
    assert scene.reported("SELECT max(faults) FROM shards") == "0"
