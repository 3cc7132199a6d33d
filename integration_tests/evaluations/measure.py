"""The cost of evaluations as a service, and with more workers: a benchmark without assertions.

    python -m integration_tests.evaluations.measure [QUESTIONS] [ROUNDS]

The lab's questions are sent to one orchestrator with the lab's models in its own process: by
`scaar eval run`, by a service without workers, and by a service with 1, 2 and 4 workers, in turn.
The time of the command includes the start of its process; that of a service is from the request to
the report.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

from scaar.compose import ensure_lab_index, lab_index_name, open_answerer
from scaar.core.evaluations import EvaluationRequest, EvaluationState, no_questions
from scaar.core.types import PolicyRequest
from scaar.database.database import open_database
from scaar.database.migration import upgrade
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.testing.commands import run_scaar
from scaar.testing.processes import running_service

from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql
from ..servers.redis.redis_server import RedisServer, running_redis
from .processes import Worker

POLICIES = ("no_retrieval", "flare", "scaar")
CONCURRENCY = 4
WORKERS = (1, 2, 4)
SHARDS = 16
"""Number of shards of an evaluation, so that four workers end at about the same time."""


async def make_index() -> None:
    """The index of the lab's passages, where the orchestrator looks for it."""
    await ensure_lab_index()


def by_command(folder: Path, target: str, questions: int) -> float:
    """Seconds of an evaluation in a folder."""
    began = time.perf_counter()
    ran = run_scaar(
        *("eval", "run", "--dataset", "lab", "--limit", str(questions), "--address", target),
        *("--policies", ",".join(POLICIES), "--concurrency", str(CONCURRENCY)),
        *("--out", str(folder)),
    )
    if ran.status:
        raise SystemExit(ran.err)
    return time.perf_counter() - began


async def by_service(
    folder: Path,
    target: str,
    questions: int,
    *,
    workers: int = 0,
    postgresql: PostgresqlServer,
    redis: RedisServer,
) -> float:
    """Seconds from when an evaluation is asked for until its report is there.

    Without workers it is the service that asks, by its own settings. A worker asks one shard at a
    time.
    """
    name = folder.name.replace("-", "_")
    postgresql.execute(f"CREATE DATABASE {name}")
    url = postgresql.url(name)
    given: dict[str, object] = {
        "orchestrator_target": target,
        "database": url,
        "broker": redis.url,
        "queue": name,
        "executor": "celery" if workers else "in_process",
        "concurrency": CONCURRENCY,
        "worker_processes": 1,
    }
    if workers:
        given["shard_predictions"] = max(1, questions * len(POLICIES) // SHARDS)
    async with open_database(url, SCHEMA) as database:
        await upgrade(database)
    request = EvaluationRequest(
        policies=tuple(PolicyRequest(each) for each in POLICIES), dataset="lab", limit=questions
    )
    async with AsyncExitStack() as stack:
        for at in range(workers):
            (folder / str(at)).mkdir(parents=True)
            worker = Worker(folder / str(at), given)
            await asyncio.to_thread(worker.start)
            stack.callback(worker.process.kill_with_children)
        answerer = await stack.enter_async_context(open_answerer(target))
        opened = open_evaluator(
            EvaluatorSettings.model_validate(given),
            answerer,
            database_url=url,
            broker_url=redis.url,
            lab_index=lab_index_name,
        )
        evaluator = await stack.enter_async_context(opened)
        began = time.perf_counter()
        created = await evaluator.create_evaluation(request, no_questions())
        async for each in evaluator.watch_evaluation(created.id):
            last = each.evaluation
        if last.state is not EvaluationState.SUCCEEDED:
            raise SystemExit(f"{last.state}: {last.error}")
        return time.perf_counter() - began


def measure(questions: int, rounds: int) -> None:
    taken: dict[str, list[float]] = {}
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evaluations-")))
        os.environ["SCAAR_HOME"] = str(home / "home")
        asyncio.run(make_index())
        target = stack.enter_context(running_service("orchestrator", home / "home")).target
        servers = {
            "postgresql": stack.enter_context(running_postgresql()),
            "redis": stack.enter_context(running_redis()),
        }
        by_command(home / "warm", target, questions)
        for at in range(rounds):
            found = {"scaar eval run": by_command(home / f"run-{at}", target, questions)}
            for workers in (0, *WORKERS):
                folder = home / f"service-{at}-{workers}"
                requested = by_service(folder, target, questions, workers=workers, **servers)
                name = f"service, {workers} workers" if workers else "service, in its process"
                found[name] = asyncio.run(requested)
            for name, seconds in found.items():
                taken.setdefault(name, []).append(seconds)
    predictions = questions * len(POLICIES)
    first = taken["scaar eval run"]
    print(f"{predictions} predictions, {rounds} rounds, {os.cpu_count()} cores\n")
    print(
        "| by | predictions/s | over scaar eval run | in every round |\n| --- | --- | --- | --- |"
    )
    for name, seconds in taken.items():
        rate = predictions / statistics.median(seconds)
        over = [each / base for each, base in zip(seconds, first, strict=True)]
        rounds_text = ", ".join(f"{each:.2f}" for each in over)
        print(f"| {name} | {rate:.1f} | {statistics.median(over):.2f} | {rounds_text} |")


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    measure(*(*given, *(400, 2)[len(given) :]))
