"""The evaluator opened: its database checked, and what drives evaluations going."""

import asyncio
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import assert_never

from scaar import __version__
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.observers import EvaluationObserver
from scaar.core.ports import Answerer
from scaar.core.tenancy import wrong_tenant
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.execution.patient import PatientAnswerer
from scaar.evaluator.execution.stopping import stopped
from scaar.evaluator.service.beginning import Beginning
from scaar.evaluator.service.counting import counting
from scaar.evaluator.service.executor import Executor, open_in_process
from scaar.evaluator.service.hosting import HostedEvaluator
from scaar.evaluator.service.planning import Sources
from scaar.evaluator.service.shard_execution import ShardExecution
from scaar.evaluator.service.shard_succession import ShardSuccession
from scaar.evaluator.service.supervising import Supervisor
from scaar.evaluator.service.watching import UNWATCHED, EvaluationWatch
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.migrating import check, upgrade
from scaar.evaluator.store.database.opening import Database, file_of, open_database
from scaar.runtime.settings import variable_of

_MIB = 1024 * 1024


@asynccontextmanager
async def open_evaluator(
    settings: EvaluatorSettings,
    answerer: Answerer,
    *,
    database_url: str,
    broker_url: str = "",
    lab_index: Callable[[int], str],
    watch: EvaluationWatch = UNWATCHED,
) -> AsyncIterator[HostedEvaluator]:
    """The evaluator over a database; shards are executed in this process, or by workers.

    Raises:
        InvalidRequest: a data set of the settings is none, or its file is not there; or there are
            operators, and no identities by which one is known.
        NotFound: the database has no tables yet.
        WrongState: its tables are another version's.
    """
    require_operators_known(settings)
    sources = sources_of(settings, lab_index)
    async with open_checked_database(database_url) as database:
        woken = asyncio.Event()
        beginning = Beginning(
            database, answerer, __version__, time.time, settings.shard_predictions
        )
        execution = execution_of(settings, database, answerer, watch)
        async with _open_executor(settings, execution, broker_url, ended=woken.set) as executor:
            supervisor = Supervisor(
                database=database,
                beginning=beginning,
                executor=executor,
                now=time.time,
                woken=woken,
                lease_s=settings.lease_s,
                shard_faults=settings.shard_faults,
                retention_days=settings.retention_days,
            )
            async with _going(supervisor), counting(database, watch.observer, now=time.time):
                yield HostedEvaluator(
                    database=database,
                    sources=sources,
                    max_unfinished=settings.max_unfinished,
                    now=time.time,
                    new_id=lambda: uuid.uuid4().hex,
                    changed=woken.set,
                    operator_tenants=settings.operator_tenants,
                )


def execution_of(
    settings: EvaluatorSettings,
    database: Database,
    answerer: Answerer,
    watch: EvaluationWatch = UNWATCHED,
) -> ShardSuccession:
    """What shards are executed with, in whichever process that is."""
    observer = watch.observer or EvaluationObserver()
    patient = PatientAnswerer(
        answerer,
        patience_s=settings.patience_s,
        held_back=lambda reason, seconds: observer.questions_held_back(reason, seconds=seconds),
    )
    execution = ShardExecution(
        database=database,
        # Outermost: an answer that was asked for again is one to whoever watches.
        answerer=watch.watched(patient),
        holder=f"{socket.gethostname()} {os.getpid()}",
        now=time.time,
        attempts=settings.attempts,
        pause_s=settings.attempt_pause_s,
        lease_s=settings.lease_s,
        observer=observer,
    )
    # The rest is for those that take longer than others.
    return ShardSuccession(execution, settings.concurrency, go_on_s=settings.shard_s / 2)


def _open_executor(
    settings: EvaluatorSettings,
    execution: ShardSuccession,
    broker_url: str,
    *,
    ended: Callable[[], None],
) -> AbstractAsyncContextManager[Executor]:
    match settings.executor:
        case "in_process":
            return open_in_process(execution.execute, at_once=settings.shards_at_once, ended=ended)
        case "celery":
            from scaar.evaluator.workers.opening import open_queue_executor

            return open_queue_executor(settings, broker_url)
        case _:
            assert_never(settings.executor)


@asynccontextmanager
async def open_checked_database(url: str) -> AsyncIterator[Database]:
    """The database with this version's tables; a file of SQLite that is not there is made.

    Raises:
        NotFound: it has no tables yet.
        WrongState: its tables are another version's.
    """
    file = file_of(url)
    is_new = file is not None and not file.exists()
    if file is not None and is_new:
        file.parent.mkdir(parents=True, exist_ok=True)
    async with open_database(url) as database:
        await (upgrade(database) if is_new else check(database))
        yield database


def require_operators_known(settings: EvaluatorSettings) -> None:
    """Passes settings without operators, and those where their callers prove who they are.

    Raises:
        InvalidRequest: nobody proves it, or a name is none that a tenant can have.
    """
    name = variable_of(EvaluatorSettings, "operator_tenants")
    if settings.operator_tenants and settings.identities_file is None:
        needed = variable_of(EvaluatorSettings, "identities_file")
        raise InvalidRequest.of(name, f"needs {needed}, by which a tenant is proved")
    wrong = [
        Violation(f"{name}[{at}]", told)
        for at, tenant in enumerate(settings.operator_tenants)
        if (told := wrong_tenant(tenant))
    ]
    if wrong:
        raise InvalidRequest(wrong)


def sources_of(settings: EvaluatorSettings, lab_index: Callable[[int], str]) -> Sources:
    """Where questions may come from.

    Raises:
        InvalidRequest: naming every data set that is none, or whose file is not there.
    """
    datasets = settings.datasets or {}
    wrong = []
    for name, path in datasets.items():
        field = f"SCAAR_EVALUATOR_DATASETS[{name}]"
        if name not in KINDS or not KINDS[name].of_a_file:
            known = ", ".join(each.name for each in KINDS.values() if each.of_a_file)
            wrong.append(Violation(field, f"is no data set of a file; known: {known}"))
        elif not path.exists():
            wrong.append(Violation(field, f"there is no {path}"))
    if wrong:
        raise InvalidRequest(wrong)
    return Sources(datasets, lab_index, settings.max_questions, settings.max_upload_mib * _MIB)


@asynccontextmanager
async def _going(supervisor: Supervisor) -> AsyncIterator[None]:
    """The supervisor at work while the block runs."""
    task = asyncio.create_task(supervisor.run())
    try:
        yield
    finally:
        await stopped((task,))
