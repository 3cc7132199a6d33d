"""The servers around an evaluator, and what an evaluation comes to that nothing disturbs."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from scaar.compose import open_answerer
from scaar.evaluator.service.opening import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.migrating import upgrade
from scaar.evaluator.store.database.opening import open_database
from scaar.testing.sockets import serving
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer

from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql
from ..servers.redis.redis_server import RedisServer, running_redis
from .processes import Orchestrator
from .scene import REQUEST, Outcome, Scene, outcome_of, questions
from .steady_orchestrator import HeldAnswerer

_NUMBERS = itertools.count()
_SHORT = {
    "lease_s": 5.0,
    "shard_predictions": 6,
    "concurrency": 2,
    "worker_processes": 2,
    "attempt_pause_s": 0.05,
    "stop_grace_s": 1.0,
}


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A server that every test leaves as it was; each has a database of its own."""
    with running_postgresql() as server:
        yield server


@pytest.fixture
def durable() -> bool:
    """Whether the broker keeps what it holds."""
    return False


@pytest.fixture
def redis(durable: bool) -> Iterator[RedisServer]:
    """A broker of the test's own."""
    with running_redis(durable=durable) as server:
        yield server


@pytest.fixture
def most_calls() -> int:
    """How many calls the orchestrator takes at a time."""
    return 64


@pytest.fixture
def orchestrator(tmp_path: Path, most_calls: int) -> Iterator[Orchestrator]:
    folder = tmp_path / "orchestrator"
    folder.mkdir()
    running = Orchestrator(folder, most_calls=most_calls)
    try:
        running.start()
        yield running
    finally:
        running.process.kill()


@pytest.fixture
async def scene(
    tmp_path: Path, postgresql: PostgresqlServer, redis: RedisServer, orchestrator: Orchestrator
) -> AsyncIterator[Scene]:
    """An evaluator on all of these; its workers end with the test."""
    name = f"evaluations_{next(_NUMBERS)}"
    postgresql.asked(f"CREATE DATABASE {name}")
    url = postgresql.url(name)
    async with open_database(url) as database:
        await upgrade(database)
    settings = {
        **_SHORT,
        "executor": "celery",
        "orchestrator_target": orchestrator.target,
        "database": url,
        "broker": redis.url,
    }
    read = EvaluatorSettings.model_validate(settings)
    async with AsyncExitStack() as stack:
        answerer = await stack.enter_async_context(open_answerer(orchestrator.target))
        evaluator = await stack.enter_async_context(
            open_evaluator(
                read, answerer, database_url=url, broker_url=redis.url, lab_index=lambda _: "lab"
            )
        )
        made = Scene(tmp_path, postgresql, redis, orchestrator, settings, evaluator, name)
        try:
            yield made
        finally:
            orchestrator.let_go()
            for worker in made.workers:
                worker.process.kill_with_children()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What an evaluation comes to in one process, on SQLite, where nothing dies."""
    return asyncio.run(_undisturbed(tmp_path_factory.mktemp("undisturbed"), poison=False))


@pytest.fixture(scope="session")
def undisturbed_with_poison(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The same with a question that cannot be answered."""
    return asyncio.run(_undisturbed(tmp_path_factory.mktemp("undisturbed"), poison=True))


async def _undisturbed(folder: Path, *, poison: bool) -> Outcome:
    settings = EvaluatorSettings.model_validate(_SHORT)
    url = f"sqlite:///{folder}/evaluations.sqlite"
    async with serving(OrchestratorServicer(HeldAnswerer(folder))) as (channel, target):
        answerer = RemoteAnswerer(channel, target)
        async with open_evaluator(
            settings, answerer, database_url=url, lab_index=lambda _: "lab"
        ) as evaluator:
            created = await evaluator.create_evaluation(REQUEST, questions(poison=poison))
            async for each in evaluator.watch_evaluation(created.id):
                last = each.evaluation
            return await outcome_of(evaluator, last)
