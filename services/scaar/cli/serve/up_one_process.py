"""``scaar up`` in one process: the orchestrator with its parts, the gateway and the console."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass
from functools import partial
from typing import Literal

from scaar import compose
from scaar.cli.serve.http import open_http
from scaar.cli.serve.orchestrator import orchestrator_over
from scaar.cli.serve.services import ServiceName
from scaar.cli.serve.up_plan import SHARING, Note, RunningServices, UpPlan
from scaar.cli.settings import settings_class
from scaar.core.calls.breakers import Breakers
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.ports import IndexKeeper, Retriever
from scaar.core.text import word_classes
from scaar.extensions import ANSWERING, registries
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.garbage_collection import exclude_present_objects
from scaar.runtime.identities import read_identities
from scaar.runtime.logs import log_loop_error, logging_to
from scaar.runtime.server import Servicer, open_server
from scaar.runtime.server_tls import server_credentials
from scaar.runtime.settings import sources_named, variable_of
from scaar.telemetry.setup import Telemetry, open_telemetry
from scaar.wire.evaluator import EvaluatorServicer
from scaar.wire.records import RecordsServicer
from scaar.wire.status import status_of

NOTE_AFTER_S = 15.0
"""Seconds after which a start that takes longer is noted."""
_LONG = "still starting, a large model takes minutes to load; Ctrl-C stops it"
_OF_CALLERS = ("identities_file", "tls_cert_file", "tls_client_ca_file")
"""Settings of a server that decide who may call it."""


def check_one_server(plan: UpPlan) -> None:
    """Check that the services that share the orchestrator's port are to have the same callers.

    Raises:
        InvalidRequest: a service has other identities or another certificate than the orchestrator.
    """
    ours = plan.settings[ServiceName.ORCHESTRATOR]
    wrong = [
        Violation(
            variable_of(settings_class(name), field),
            "must be that of the orchestrator, whose port the service shares; or use --processes",
        )
        for name in plan.embedded
        if name in SHARING
        for field in _OF_CALLERS
        if getattr(plan.settings[name], field) != getattr(ours, field)
    ]
    if wrong:
        raise InvalidRequest(wrong)


@asynccontextmanager
async def open_in_one_process(plan: UpPlan, note: Note) -> AsyncIterator[RunningServices]:
    """Run the services of the plan in this process; those without a port are the orchestrator's.

    Raises:
        ScaarError: a setting is invalid, or a service cannot start.
    """
    address = plan.addresses[ServiceName.ORCHESTRATOR]
    settings = OrchestratorSettings.read(address=address)
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        stack.enter_context(sources_named(OrchestratorSettings, {}))
        stack.enter_context(logging_to(settings, service="up"))
        loop.set_exception_handler(log_loop_error)
        late = loop.call_later(NOTE_AFTER_S, partial(note, _LONG))
        stack.callback(late.cancel)
        # Report invalid files and extensions before a model is loaded.
        server_credentials(settings)
        read_identities(settings)
        for registry in registries() if ServiceName.EVALUATOR in plan.embedded else ANSWERING:
            registry.load()
        services = await stack.enter_async_context(_open_orchestrator(plan, settings))
        await _open_http(plan, stack)
        late.cancel()
        exclude_present_objects()
        yield services


@asynccontextmanager
async def _open_orchestrator(
    plan: UpPlan, settings: OrchestratorSettings
) -> AsyncIterator[RunningServices]:
    """Serve the orchestrator, and the services that share its port."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        opening = open_telemetry(
            settings, service=ServiceName.ORCHESTRATOR, trace_content=settings.trace_content
        )
        telemetry = await enter(opening)
        breakers = compose.read_breakers(telemetry.breakers)
        files = compose.open_files(settings)
        # Load now what would delay the first answer by half a second.
        await asyncio.to_thread(word_classes.load)
        local = None
        if settings.retriever_target == compose.EMBEDDED:
            local = await enter(_open_local_indexes(breakers))
        ports = await enter(
            compose.open_ports(
                settings,
                observer=telemetry.scorer,
                breakers=breakers,
                indexes=None if local is None else local.retriever,
            )
        )
        servicers: list[Servicer] = [
            await enter(orchestrator_over(ports, settings, telemetry, files=files))
        ]
        for name in plan.embedded:
            if name is ServiceName.RECORDS or name is ServiceName.EVALUATOR:
                servicers.append(await enter(_open_servicer(name, plan, telemetry, breakers)))
        embedded = settings.generator_target == compose.EMBEDDED
        await enter(
            open_server(
                servicers,
                settings.address,
                settings,
                status_of=status_of,
                needs=compose.needs_of(settings),
                check=ports.generator.describe_model if embedded else None,
                observers=telemetry.interceptors,
            )
        )

        def open_indexes() -> AbstractAsyncContextManager[IndexKeeper]:
            # A second set of the same indexes would take their memory again.
            return nullcontext(local.keeper) if local is not None else compose.open_indexes(target)

        target = settings.retriever_target
        yield RunningServices(open_indexes, _never)


@dataclass(frozen=True, slots=True)
class _LocalIndexes:
    """The indexes of this process, to keep and, behind the breaker of a server, to search."""

    keeper: IndexKeeper
    retriever: Retriever


@asynccontextmanager
async def _open_local_indexes(breakers: Breakers) -> AsyncIterator[_LocalIndexes]:
    from scaar.retriever.settings import RetrieverSettings
    from scaar.scorer.settings import ScorerSettings

    settings = RetrieverSettings.read()
    if "encoder_threads" not in settings.model_fields_set:
        # With as many threads, indexes and scorer share an encoder.
        threads = ScorerSettings.read().threads
        settings = settings.model_copy(update={"encoder_threads": threads})
    with sources_named(RetrieverSettings, {}):
        opening = compose.open_embedded_indexes(settings, breakers=breakers)
        async with opening as indexes:
            # Report damaged indexes now; the others are served.
            await indexes.check_indexes()
            if compose.indexes_are_local():
                await compose.ensure_default_indexes_in(indexes)
            yield _LocalIndexes(indexes, compose.with_breaker(indexes, settings.engine, breakers))


@asynccontextmanager
async def _open_servicer(
    service: Literal[ServiceName.RECORDS, ServiceName.EVALUATOR],
    plan: UpPlan,
    telemetry: Telemetry,
    breakers: Breakers,
) -> AsyncIterator[Servicer]:
    """Open a service that shares the orchestrator's port."""
    if service is ServiceName.RECORDS:
        from scaar.records.settings import RecordsSettings

        async with compose.open_stored_records(RecordsSettings.read()) as records:
            yield RecordsServicer(records)
        return
    from scaar.evaluator.service.setup import EvaluationHooks
    from scaar.evaluator.settings import EvaluatorSettings

    settings = EvaluatorSettings.read(orchestrator_target=_target(plan))
    hooks = EvaluationHooks(telemetry.evaluations, telemetry.traced)
    async with compose.open_hosted_evaluator(settings, breakers=breakers, hooks=hooks) as hosted:
        yield EvaluatorServicer(hosted)


async def _open_http(plan: UpPlan, stack: AsyncExitStack) -> None:
    """Serve the gateway and the console of the plan until the stack is closed."""
    target = _target(plan)
    if address := plan.addresses.get(ServiceName.GATEWAY):
        from scaar.gateway.settings import GatewaySettings

        gateway = GatewaySettings.read(address=address, orchestrator_target=target)
        with sources_named(GatewaySettings, {}):
            await stack.enter_async_context(open_http(ServiceName.GATEWAY, gateway))
    if address := plan.addresses.get(ServiceName.CONSOLE):
        from scaar.console.settings import ConsoleSettings

        console = ConsoleSettings.read(
            address=address,
            orchestrator_target=target,
            records_target=target if ServiceName.RECORDS in plan.embedded else None,
            evaluator_target=target if ServiceName.EVALUATOR in plan.embedded else None,
        )
        with sources_named(ConsoleSettings, {}):
            await stack.enter_async_context(open_http(ServiceName.CONSOLE, console))


def _target(plan: UpPlan) -> str:
    return f"dns:///{plan.addresses[ServiceName.ORCHESTRATOR]}"


async def _never() -> None:
    """Wait: the services of this process end with it."""
    await asyncio.Event().wait()
