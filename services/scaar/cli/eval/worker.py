"""``scaar eval worker``: run shards of evaluations."""

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
    open_answerers,
    read_breakers,
)
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.observers import UNOBSERVED_BREAKERS
from scaar.evaluator.settings import EvaluatorSettings
from scaar.runtime.logs import logging_to
from scaar.runtime.settings import sources_named
from scaar.telemetry.setup import open_telemetry, require_tracing

if TYPE_CHECKING:
    from celery import Celery

    from scaar.evaluator.service.shard_sequence import ShardSequence
    from scaar.telemetry.process_metrics import ProcessMetrics

NAME = "worker"
"""Name of a worker in logs, metrics and traces."""


def worker(
    worker_processes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of processes. Default: the setting SCAAR_EVALUATOR_WORKER_PROCESSES.",
        ),
    ] = None,
    orchestrator: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address of the orchestrator, or a gRPC target. Default: the setting "
            "SCAAR_EVALUATOR_ORCHESTRATOR_TARGET.",
        ),
    ] = None,
    metrics_address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address of the metrics endpoint; port 0 takes a free port. Default: the setting "
            "SCAAR_EVALUATOR_METRICS_ADDRESS, else no metrics.",
        ),
    ] = None,
) -> None:
    """Run shards of queued evaluations until it is stopped.

    The evaluator must have SCAAR_EVALUATOR_EXECUTOR=poll or =celery. With poll, the worker must
    have it too; with celery, the worker needs the broker.
    """
    settings = EvaluatorSettings.read(
        None,
        worker_processes=worker_processes,
        orchestrator_target=orchestrator,
        metrics_address=metrics_address,
    )
    raise typer.Exit(_run(settings))


def _run(settings: EvaluatorSettings) -> int:
    broker = "" if settings.executor == "poll" else evaluator_broker(settings)
    if settings.orchestrator_target == EMBEDDED:
        text = "must be a running orchestrator: a worker cannot embed one"
        raise InvalidRequest.of("orchestrator_target", text)
    database = evaluator_database(settings)
    if settings.otlp_endpoint is not None:
        require_tracing(settings.otlp_endpoint)
    application = _application(settings, broker) if broker else None
    where = "the database" if application is None else application.connection().as_uri()
    asyncio.run(_check(database))
    with (
        logging_to(settings, service=NAME),
        sources_named(EvaluatorSettings, {}),
        _open_metrics(settings) as metrics,
    ):
        open_ = partial(_open_execution, settings, database, metrics)
        on_process_start = metrics.leave_to_parent if metrics else lambda: None

        def report_ready() -> None:
            print(f"worker takes shards from {where}", file=sys.stderr, flush=True)
            if metrics:
                print(f"metrics at http://{metrics.address}/metrics", file=sys.stderr, flush=True)

        if application is None:
            from scaar.evaluator.workers.polling import run_polling_worker

            return run_polling_worker(
                open_,
                processes=settings.worker_processes,
                max_faults=settings.shard_faults,
                shard_s=settings.shard_s,
                stop_s=settings.stop_grace_s,
                on_ready=report_ready,
                on_process_start=on_process_start,
            )
        from scaar.evaluator.workers.worker import run_worker

        return run_worker(
            application,
            open_,
            processes=settings.worker_processes,
            shard_s=settings.shard_s,
            on_ready=report_ready,
            on_process_start=on_process_start,
        )


def _application(settings: EvaluatorSettings, broker: str) -> "Celery":
    try:
        from scaar.evaluator.workers.executor import application_of
    except ModuleNotFoundError as error:
        text = f"workers of a broker need {error.name}: install scaar[evaluator,celery]"
        raise CapabilityMissing(text) from error
    return application_of(settings, broker)


def _open_metrics(
    settings: EvaluatorSettings,
) -> "AbstractContextManager[ProcessMetrics | None]":
    """Open the metrics of this process and its children; None without an address."""
    if settings.metrics_address is None:
        return nullcontext()
    from scaar.telemetry.process_metrics import open_process_metrics

    return open_process_metrics(settings.metrics_address, service=NAME)


@asynccontextmanager
async def _open_execution(
    settings: EvaluatorSettings, database: str, metrics: "ProcessMetrics | None"
) -> AsyncIterator["ShardSequence"]:
    """Open a child's execution: channels and connections cannot be forked, metrics can."""
    from scaar.database.migration import open_checked_database
    from scaar.evaluator.service.setup import EvaluationHooks, execution_of
    from scaar.evaluator.store.database.schema import SCHEMA

    observer = metrics.observer if metrics else None
    breakers = read_breakers(metrics.breakers if metrics else UNOBSERVED_BREAKERS)
    unmeasured = settings.model_copy(update={"metrics_address": None})
    async with (
        open_telemetry(unmeasured, service=NAME) as telemetry,
        open_checked_database(database, SCHEMA) as rows,
        open_answerers(
            settings.orchestrator_target, settings.scorer_targets or {}, breakers=breakers
        ) as (answerers, _),
    ):
        hooks = EvaluationHooks(observer, telemetry.traced)
        yield execution_of(settings, rows, answerers.answerer, hooks, answerers.controls)


async def _check(database: str) -> None:
    """Check the tables of the database before the worker takes a shard."""
    from scaar.database.migration import open_checked_database
    from scaar.evaluator.store.database.schema import SCHEMA

    async with open_checked_database(database, SCHEMA):
        pass
