"""The servers around an evaluator, and what an evaluation comes to that nothing disturbs."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

import pytest

from scaar.compose import open_answerer
from scaar.core.ports import Evaluator
from scaar.database.database import open_database
from scaar.database.migration import upgrade
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.testing.sockets import serving
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer

from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql
from ..servers.rabbitmq.rabbitmq_server import running_rabbitmq
from ..servers.redis.redis_server import running_redis
from .processes import Orchestrator
from .scene import REQUEST, Broker, Outcome, Scene, outcome_of, questions
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


_BROKERS: dict[str, Callable[[], AbstractContextManager[Broker | None]]] = {
    # Workers that find shards in the database.
    "none": nullcontext,
    "redis": running_redis,
    "durable_redis": partial(running_redis, durable=True),
    "rabbitmq": running_rabbitmq,
}


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A server that every test leaves as it was; each has a database of its own."""
    with running_postgresql() as server:
        yield server


@pytest.fixture
def broker_kind() -> str:
    """Which broker there is, of ``_BROKERS``."""
    return "redis"


@pytest.fixture
def broker(broker_kind: str) -> Iterator[Broker | None]:
    """A broker of the test's own."""
    with _BROKERS[broker_kind]() as server:
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
async def database(postgresql: PostgresqlServer) -> str:
    """The name of a database of the test's own, with its tables."""
    name = f"evaluations_{next(_NUMBERS)}"
    postgresql.execute(f"CREATE DATABASE {name}")
    async with open_database(postgresql.url(name), SCHEMA) as opened:
        await upgrade(opened)
    return name


@pytest.fixture
def settings(
    postgresql: PostgresqlServer,
    broker: Broker | None,
    orchestrator: Orchestrator,
    database: str,
) -> dict[str, object]:
    """Those of an evaluator on all of these whose shards workers ask."""
    queued = {"executor": "celery", "broker": broker.url} if broker else {"executor": "poll"}
    return {
        **_SHORT,
        **queued,
        "orchestrator_target": orchestrator.target,
        "database": postgresql.url(database),
    }


@pytest.fixture
async def evaluator(settings: dict[str, object]) -> AsyncIterator[Evaluator]:
    """The evaluator, in this process."""
    read = EvaluatorSettings.model_validate(settings)
    broker_url = str(settings.get("broker", ""))
    urls = {"database_url": str(settings["database"]), "broker_url": broker_url}
    async with (
        open_answerer(read.orchestrator_target) as answerer,
        open_evaluator(read, answerer, **urls, lab_index=lambda _: "lab") as opened,
    ):
        yield opened


@pytest.fixture
def scene(
    tmp_path: Path,
    postgresql: PostgresqlServer,
    broker: Broker | None,
    orchestrator: Orchestrator,
    settings: dict[str, object],
    evaluator: Evaluator,
    database: str,
) -> Iterator[Scene]:
    """An evaluator on all of these; its workers end with the test."""
    made = Scene(tmp_path, postgresql, broker, orchestrator, settings, evaluator, database)
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
