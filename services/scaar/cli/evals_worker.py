"""``scaar evals worker``: a worker that asks shards of evaluations."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from scaar.compose import (
    EMBEDDED,
    evaluator_broker,
    evaluator_database,
    open_answerer,
    read_breakers,
)
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.evaluator.settings import EvaluatorSettings
from scaar.runtime.logs import logging_to

if TYPE_CHECKING:
    from scaar.evaluator.workers.asking import Execute


def worker(
    worker_processes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Shards asked at a time.", show_default=False),
    ] = None,
    orchestrator: Annotated[
        str | None,
        typer.Option(help="Where the orchestrator is, dns:///host:port.", show_default=False),
    ] = None,
) -> None:
    """Ask questions of evaluations whose executor is celery, until it is told to stop."""
    settings = EvaluatorSettings.read(
        None, worker_processes=worker_processes, orchestrator_target=orchestrator
    )
    raise typer.Exit(_run(settings, evaluator_broker(settings), evaluator_database(settings)))


def _run(settings: EvaluatorSettings, broker: str, database: str) -> int:
    if settings.orchestrator_target == EMBEDDED:
        text = "must be that of a running orchestrator: a worker has none in its processes"
        raise InvalidRequest.of("orchestrator_target", text)
    try:
        from scaar.evaluator.workers.opening import application_of
        from scaar.evaluator.workers.worker import run_worker
    except ModuleNotFoundError as error:
        text = f"workers need {error.name}: install scaar[evaluator,celery]"
        raise CapabilityMissing(text) from error
    application = application_of(settings, broker)
    where = application.connection().as_uri()
    asyncio.run(_check(database))

    # Called in the processes that ask, which inherit no channel and no connection.
    @asynccontextmanager
    async def opened() -> AsyncIterator["Execute"]:
        from scaar.evaluator.service.opening import execution_of, open_checked_database

        async with (
            open_checked_database(database) as rows,
            open_answerer(settings.orchestrator_target, breakers=read_breakers()) as answerer,
        ):
            yield execution_of(settings, rows, answerer).execute

    def tell() -> None:
        print(f"worker takes shards from {where}", file=sys.stderr, flush=True)

    with logging_to(settings, service="worker"):
        return run_worker(
            application,
            opened,
            processes=settings.worker_processes,
            shard_s=settings.shard_s,
            ready=tell,
        )


async def _check(database: str) -> None:
    """Ends a worker that would find no tables, before it takes a shard."""
    from scaar.evaluator.service.opening import open_checked_database

    async with open_checked_database(database):
        pass
