"""The evaluator over its database, with the supervisor and the executor of its evaluations."""

import asyncio
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import assert_never

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.observers import EvaluationObserver
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.ports import Answerer
from scaar.core.tenancy import wrong_tenant
from scaar.database.database import Database
from scaar.database.migration import open_checked_database
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.execution.retries import RetryingAnswerer
from scaar.evaluator.execution.scorers import NO_CONTROLS, Answerers, Controls
from scaar.evaluator.execution.unlisted_indexes import with_unlisted_indexes
from scaar.evaluator.service.evaluator import HostedEvaluator
from scaar.evaluator.service.executor import Executor, ExternalExecutor, open_in_process
from scaar.evaluator.service.request_plan import QuestionSources, no_policies
from scaar.evaluator.service.shard_execution import ShardExecution
from scaar.evaluator.service.shard_sequence import ShardSequence
from scaar.evaluator.service.start import EvaluationStarter
from scaar.evaluator.service.state_counts import publish_counts
from scaar.evaluator.service.supervisor import Supervisor
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.shards import release_all
from scaar.runtime.settings import variable_of

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class EvaluationHooks:
    """An observer of evaluations, and a wrapper of the answerer; the defaults observe nothing."""

    observer: EvaluationObserver | None = None
    wrap: Callable[[Answerer], Answerer] = lambda answerer: answerer


NO_HOOKS = EvaluationHooks()


@asynccontextmanager
async def open_evaluator(
    settings: EvaluatorSettings,
    answerer: Answerer,
    *,
    database_url: str,
    broker_url: str = "",
    lab_index: Callable[[int], str],
    hooks: EvaluationHooks = NO_HOOKS,
    controls: Controls = NO_CONTROLS,
    cached: Answerers | None = None,
    exclusive: bool = False,
    ensure_lab_index: Callable[[int], Awaitable[object]] | None = None,
    tuned_policies: Callable[[], Awaitable[TunedPolicies]] = no_policies,
) -> AsyncIterator[HostedEvaluator]:
    """Open the evaluator over a database; shards are executed in this process or by workers.

    ``controls`` are the answerers of scorer controls that evaluations can use, and ``cached`` the
    answerers with cached generations, which only shards in this process can use. ``exclusive`` says
    that no other process has a shard, so that shards of a lost process are free immediately. For
    ``ensure_lab_index`` and ``tuned_policies``, see
    :class:`~scaar.evaluator.service.request_plan.QuestionSources`.

    Raises:
        InvalidRequest: a data set of the settings is unknown or its file does not exist; or there
            are operator tenants without an identities file.
        NotFound: the database has no tables.
        WrongState: the tables belong to another version.
    """
    require_operators_known(settings)
    cached = cached if settings.executor == "in_process" else None
    sources = replace(
        sources_of(settings, lab_index),
        controls=tuple(controls),
        caches_generations=cached is not None,
        ensure_lab_index=ensure_lab_index,
        tuned_policies=tuned_policies,
    )
    async with open_checked_database(database_url, SCHEMA, exclusive=exclusive) as database:
        if exclusive:
            await release_all(database)
        wake = asyncio.Event()
        starting = _as_tenants_see(settings, Answerers(answerer, controls))
        starter = EvaluationStarter(
            *(database, starting.answerer, time.time, settings.shard_predictions),
            controls=starting.controls,
            cached=cached and _as_tenants_see(settings, cached),
        )
        execution = execution_of(settings, database, answerer, hooks, controls, cached)
        async with _open_executor(settings, execution, broker_url, on_free=wake.set) as executor:
            supervisor = Supervisor(
                database=database,
                starter=starter,
                executor=executor,
                now=time.time,
                wake=wake,
                lease_s=settings.lease_s,
                shard_faults=settings.shard_faults,
                retention_days=settings.retention_days,
            )
            async with (
                _running(supervisor),
                publish_counts(database, hooks.observer, now=time.time),
            ):
                yield _hosted(settings, database, sources, on_change=wake.set)


@asynccontextmanager
async def open_stored_evaluations(
    settings: EvaluatorSettings, database_url: str, lab_index: Callable[[int], str]
) -> AsyncIterator[HostedEvaluator]:
    """Open an evaluator that runs nothing, to read and cancel the evaluations of a database.

    Raises:
        NotFound: the database has no tables.
        WrongState: the tables belong to another version.
    """
    async with open_checked_database(database_url, SCHEMA) as database:
        yield _hosted(settings, database, sources_of(settings, lab_index), on_change=lambda: None)


def _hosted(
    settings: EvaluatorSettings,
    database: Database,
    sources: QuestionSources,
    *,
    on_change: Callable[[], None],
) -> HostedEvaluator:
    return HostedEvaluator(
        database=database,
        sources=sources,
        max_unfinished=settings.max_unfinished,
        now=time.time,
        new_id=lambda: uuid.uuid4().hex,
        on_change=on_change,
        operator_tenants=settings.operator_tenants,
    )


def execution_of(
    settings: EvaluatorSettings,
    database: Database,
    answerer: Answerer,
    hooks: EvaluationHooks = NO_HOOKS,
    controls: Controls = NO_CONTROLS,
    cached: Answerers | None = None,
) -> ShardSequence:
    """Return the execution of shards, for any process."""
    observer = hooks.observer or EvaluationObserver()
    answering = _as_tenants_see(settings, Answerers(answerer, controls))
    cached = cached and _as_tenants_see(settings, cached)

    def patient(answerer: Answerer) -> Answerer:
        retrying = RetryingAnswerer(
            answerer,
            patience_s=settings.patience_s,
            on_wait=lambda reason, seconds: observer.on_questions_delayed(reason, seconds=seconds),
        )
        # Outermost: for telemetry, a retried answer is a single one.
        return hooks.wrap(retrying)

    def all_patient(controls: Controls) -> Controls:
        return {control: patient(each) for control, each in controls.items()}

    execution = ShardExecution(
        database=database,
        answerer=patient(answering.answerer),
        controls=all_patient(answering.controls),
        cached=cached and Answerers(patient(cached.answerer), all_patient(cached.controls)),
        holder=f"{socket.gethostname()} {os.getpid()}",
        now=time.time,
        attempts=settings.attempts,
        pause_s=settings.attempt_pause_s,
        lease_s=settings.lease_s,
        observer=observer,
    )
    # Half of the time is a reserve for slow shards.
    return ShardSequence(execution, settings.concurrency, continue_s=settings.shard_s / 2)


def _as_tenants_see(settings: EvaluatorSettings, answerers: Answerers) -> Answerers:
    """Return the answerers; if callers are authenticated, errors do not list indexes."""
    return answerers if settings.identities_file is None else with_unlisted_indexes(answerers)


def _open_executor(
    settings: EvaluatorSettings,
    execution: ShardSequence,
    broker_url: str,
    *,
    on_free: Callable[[], None],
) -> AbstractAsyncContextManager[Executor]:
    match settings.executor:
        case "in_process":
            return open_in_process(
                execution.execute, concurrency=settings.concurrent_shards, on_free=on_free
            )
        case "poll":
            return nullcontext(ExternalExecutor())
        case "celery":
            from scaar.evaluator.workers.executor import open_queue_executor

            return open_queue_executor(settings, broker_url)
        case _:
            assert_never(settings.executor)


def require_operators_known(settings: EvaluatorSettings) -> None:
    """Check that operator tenants have valid names, and that callers are authenticated.

    Raises:
        InvalidRequest: there is no identities file, or the name of a tenant is invalid.
    """
    name = variable_of(EvaluatorSettings, "operator_tenants")
    if settings.operator_tenants and settings.identities_file is None:
        needed = variable_of(EvaluatorSettings, "identities_file")
        raise InvalidRequest.of(name, f"requires {needed}, which authenticates the tenants")
    wrong = [
        Violation(f"{name}[{at}]", text)
        for at, tenant in enumerate(settings.operator_tenants)
        if (text := wrong_tenant(tenant))
    ]
    if wrong:
        raise InvalidRequest(wrong)


def sources_of(settings: EvaluatorSettings, lab_index: Callable[[int], str]) -> QuestionSources:
    """Return the data sets and limits of questions.

    Raises:
        InvalidRequest: naming every data set that is unknown or whose file does not exist.
    """
    datasets = settings.datasets or {}
    wrong = []
    for name, path in datasets.items():
        field = f"SCAAR_EVALUATOR_DATASETS[{name}]"
        if name not in KINDS or not KINDS[name].of_a_file:
            known = ", ".join(each.name for each in KINDS.values() if each.of_a_file)
            wrong.append(Violation(field, f"is no data set with a file; known: {known}"))
        elif not path.exists():
            wrong.append(Violation(field, f"{path} does not exist"))
    if wrong:
        raise InvalidRequest(wrong)
    return QuestionSources(
        datasets, lab_index, settings.max_questions, settings.max_upload_mib * _MIB
    )


@asynccontextmanager
async def _running(supervisor: Supervisor) -> AsyncIterator[None]:
    """Run the supervisor while the block runs."""
    task = asyncio.create_task(supervisor.run())
    try:
        yield
    finally:
        await cancel_all((task,))
