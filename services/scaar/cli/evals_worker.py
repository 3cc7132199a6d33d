"""``scaar evals worker``: a worker that asks shards of evaluations."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import partial
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
from scaar.core.observers import UNOBSERVED_BREAKERS
from scaar.evaluator.settings import EvaluatorSettings
from scaar.runtime.logs import logging_to
from scaar.telemetry.opening import open_telemetry, require_tracing

if TYPE_CHECKING:
    from scaar.evaluator.workers.asking import Execute
    from scaar.telemetry.process_metrics import ProcessMetrics

NAME = "worker"
"""What it is called in the log, in metrics and in traces."""


def worker(
    worker_processes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Processes that ask.", show_default=False),
    ] = None,
    orchestrator: Annotated[
        str | None,
        typer.Option(help="Where the orchestrator is, dns:///host:port.", show_default=False),
    ] = None,
    metrics_address: Annotated[
        str | None,
        typer.Option(
            help="Where Prometheus reads its metrics, host:port; port 0 takes a free one.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Ask questions of evaluations whose executor is celery, until it is told to stop."""
    settings = EvaluatorSettings.read(
        None,
        worker_processes=worker_processes,
        orchestrator_target=orchestrator,
        metrics_address=metrics_address,
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
    if settings.otlp_endpoint is not None:
        require_tracing(settings.otlp_endpoint)
    application = application_of(settings, broker)
    where = application.connection().as_uri()
    asyncio.run(_check(database))
    with logging_to(settings, service=NAME), _open_metrics(settings) as metrics:

        def tell() -> None:
            print(f"worker takes shards from {where}", file=sys.stderr, flush=True)
            if metrics:
                print(f"metrics at http://{metrics.address}/metrics", file=sys.stderr, flush=True)

        return run_worker(
            application,
            partial(_open_execution, settings, database, metrics),
            processes=settings.worker_processes,
            shard_s=settings.shard_s,
            ready=tell,
            begun=metrics.leave_to_parent if metrics else lambda: None,
        )


def _open_metrics(
    settings: EvaluatorSettings,
) -> "AbstractContextManager[ProcessMetrics | None]":
    """What this process and those that ask count; None where that is not set."""
    if settings.metrics_address is None:
        return nullcontext()
    from scaar.telemetry.process_metrics import open_process_metrics

    return open_process_metrics(settings.metrics_address, service=NAME)


@asynccontextmanager
async def _open_execution(
    settings: EvaluatorSettings, database: str, metrics: "ProcessMetrics | None"
) -> AsyncIterator["Execute"]:
    """In a process that asks: channels and connections bear no fork, and what is counted does."""
    from scaar.evaluator.service.opening import execution_of, open_checked_database
    from scaar.evaluator.service.watching import EvaluationWatch

    observer = metrics.observer if metrics else None
    breakers = read_breakers(metrics.breakers if metrics else UNOBSERVED_BREAKERS)
    unmeasured = settings.model_copy(update={"metrics_address": None})
    async with (
        open_telemetry(unmeasured, service=NAME) as telemetry,
        open_checked_database(database) as rows,
        open_answerer(settings.orchestrator_target, breakers=breakers) as answerer,
    ):
        watch = EvaluationWatch(observer, telemetry.traced)
        yield execution_of(settings, rows, answerer, watch).execute


async def _check(database: str) -> None:
    """Ends a worker that would find no tables, before it takes a shard."""
    from scaar.evaluator.service.opening import open_checked_database

    async with open_checked_database(database):
        pass
