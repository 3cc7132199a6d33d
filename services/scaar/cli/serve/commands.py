"""``scaar serve``: run one service."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, assert_never

import typer

from scaar import compose
from scaar.cli.serve.http import serve_http
from scaar.cli.serve.orchestrator import open_orchestrator
from scaar.cli.serve.services import ServiceName, default_address
from scaar.cli.settings import settings_class
from scaar.cli.unknown_variables import warn_of_unknown_variables
from scaar.core.errors import InvalidRequest
from scaar.core.text import word_classes
from scaar.extensions import ANSWERING, registries
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.garbage_collection import exclude_present_objects
from scaar.runtime.identities import read_identities
from scaar.runtime.logs import log_loop_error, logging_to
from scaar.runtime.server import Servicer, open_server
from scaar.runtime.server_tls import server_credentials
from scaar.runtime.settings import ServiceSettings, sources_named
from scaar.telemetry.setup import Telemetry, open_telemetry
from scaar.wire.evaluator import EvaluatorServicer
from scaar.wire.generator import GeneratorServicer
from scaar.wire.query_builder import QueryBuilderServicer
from scaar.wire.records import RecordsServicer
from scaar.wire.retriever import RetrieverServicer
from scaar.wire.scorer import ScorerServicer
from scaar.wire.status import status_of

_ForConsole = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Console only: address of that service, a gRPC target. Default: the setting "
        "SCAAR_CONSOLE_*_TARGET.",
    ),
]
_CHECKED = (GeneratorServicer, ScorerServicer, EvaluatorServicer, RecordsServicer)
_BackEnd = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Orchestrator only: address of that service, a gRPC target, or embedded. Default: "
        "the setting SCAAR_ORCHESTRATOR_*_TARGET, else embedded.",
    ),
]


def serve(
    service: Annotated[ServiceName, typer.Argument(metavar="SERVICE", help="Service to run.")],
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address to listen on; port 0 takes a free port. Default: the setting "
            "SCAAR_<SERVICE>_ADDRESS, else 127.0.0.1 with a port from 50051 (orchestrator) to "
            "50057 (records), 8090 (gateway), or 8091 (console).",
        ),
    ] = None,
    generator: _BackEnd = None,
    scorer: _BackEnd = None,
    query_builder: _BackEnd = None,
    retriever: _BackEnd = None,
    orchestrator: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Evaluator, gateway and console only: address of the orchestrator, a gRPC target, "
            "or, for the evaluator, embedded. Default: the setting "
            "SCAAR_*_ORCHESTRATOR_TARGET.",
        ),
    ] = None,
    records: _ForConsole = None,
    evaluator: _ForConsole = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run one service until it is stopped.

    SIGINT and SIGTERM stop it; calls in flight may finish first.
    """
    warn_of_unknown_variables()
    targets = {
        "generator_target": generator,
        "scorer_target": scorer,
        "query_builder_target": query_builder,
        "retriever_target": retriever,
    }
    given = {name: target for name, target in targets.items() if target is not None}
    if given and service is not ServiceName.ORCHESTRATOR:
        option = next(iter(given)).removesuffix("_target").replace("_", "-")
        raise InvalidRequest.of(f"--{option}", "is an option of the orchestrator only")
    if orchestrator is not None:
        if service not in (ServiceName.EVALUATOR, ServiceName.GATEWAY, ServiceName.CONSOLE):
            text = "is an option of the evaluator, of the gateway and of the console only"
            raise InvalidRequest.of("--orchestrator", text)
        given["orchestrator_target"] = orchestrator
    for name, target in (("records", records), ("evaluator", evaluator)):
        if target is not None:
            if service is not ServiceName.CONSOLE:
                raise InvalidRequest.of(f"--{name}", "is an option of the console only")
            given[f"{name}_target"] = target
    flags = {"address": address, **given}
    asyncio.run(_serve(service, flags, until_stdin_closes=until_stdin_closes))


async def _serve(
    service: ServiceName, flags: Mapping[str, str | None], *, until_stdin_closes: bool
) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    if until_stdin_closes:
        _stop_when_stdin_closes(loop, stopping)
    cls = settings_class(service)
    settings = cls.read(None, **flags)
    with sources_named(cls, flags), logging_to(settings, service=service):
        loop.set_exception_handler(log_loop_error)
        if service is ServiceName.GATEWAY or service is ServiceName.CONSOLE:
            await serve_http(service, settings, stopping)
            return
        assert isinstance(settings, ServiceSettings)
        await _serve_as_set(service, settings, stopping)


def _stop_when_stdin_closes(loop: asyncio.AbstractEventLoop, stopping: asyncio.Event) -> None:
    """Stop when the process at the other end of standard input, which writes nothing, ends."""

    def stop() -> None:
        loop.remove_reader(sys.stdin)
        stopping.set()

    loop.add_reader(sys.stdin, stop)


async def _serve_as_set(
    service: ServiceName, settings: ServiceSettings, stopping: asyncio.Event
) -> None:
    # Report invalid files and extensions before a model is loaded.
    server_credentials(settings)
    read_identities(settings)
    for registry in registries() if service is ServiceName.EVALUATOR else ANSWERING:
        registry.load()
    address = settings.address
    if "address" not in settings.model_fields_set:
        address = default_address(service)
    needs = compose.needs_of(settings) if isinstance(settings, OrchestratorSettings) else ()
    async with AsyncExitStack() as stack:
        content = isinstance(settings, OrchestratorSettings) and settings.trace_content
        opening = open_telemetry(settings, service=service, trace_content=content)
        telemetry = await stack.enter_async_context(opening)
        servicer = await stack.enter_async_context(_open_servicer(service, settings, telemetry))
        check = None
        if isinstance(servicer, _CHECKED):
            check = servicer.check_ready
        server = await stack.enter_async_context(
            open_server(
                [servicer],
                address,
                settings,
                status_of=status_of,
                needs=needs,
                check=check,
                observers=telemetry.interceptors,
            )
        )
        if isinstance(servicer, RetrieverServicer):
            servicer.report_readiness(server.health.set_serving)
        print(f"{service} serving on {server.address}", file=sys.stderr, flush=True)
        if server.health_address:
            print(f"health at {server.health_address}", file=sys.stderr, flush=True)
        if telemetry.metrics_address:
            print(f"metrics at http://{telemetry.metrics_address}/metrics", file=sys.stderr)
        exclude_present_objects()
        await stopping.wait()


@asynccontextmanager
async def _open_servicer(
    service: ServiceName, settings: ServiceSettings, telemetry: Telemetry
) -> AsyncIterator[Servicer]:
    breakers = compose.read_breakers(telemetry.breakers)
    match service:
        case ServiceName.GENERATOR:
            async with compose.open_generator(breakers=breakers) as generator:
                yield GeneratorServicer(generator)
        case ServiceName.SCORER:
            if missing := compose.missing_scorer():
                raise missing
            async with compose.open_scorer(observer=telemetry.scorer, breakers=breakers) as scorer:
                yield ScorerServicer(scorer)
        case ServiceName.QUERY_BUILDER:
            # Load now what would delay the first call by half a second.
            await asyncio.to_thread(word_classes.load)
            async with compose.open_query_builder() as query_builder:
                yield QueryBuilderServicer(query_builder)
        case ServiceName.RETRIEVER:
            from scaar.retriever.settings import RetrieverSettings

            assert isinstance(settings, RetrieverSettings)
            async with compose.open_embedded_indexes(settings, breakers=breakers) as indexes:
                # Report damaged indexes now; the others are served.
                whole = {**await indexes.check_indexes()}
                if compose.indexes_are_local():
                    for built in await compose.ensure_default_indexes_in(indexes):
                        whole.setdefault(built.name, True)
                guarded = compose.with_breaker(indexes, settings.engine, breakers)
                servicer = RetrieverServicer(indexes, searched=guarded, whole=whole)
                good = [name for name, is_whole in whole.items() if is_whole]
                async with indexes.checking(good, servicer.report_damaged):
                    yield servicer
        case ServiceName.ORCHESTRATOR:
            assert isinstance(settings, OrchestratorSettings)
            async with open_orchestrator(settings, telemetry, breakers) as orchestrator:
                yield orchestrator
        case ServiceName.EVALUATOR:
            from scaar.evaluator.service.setup import EvaluationHooks
            from scaar.evaluator.settings import EvaluatorSettings

            assert isinstance(settings, EvaluatorSettings)
            hooks = EvaluationHooks(telemetry.evaluations, telemetry.traced)
            async with compose.open_hosted_evaluator(
                settings, breakers=breakers, hooks=hooks
            ) as evaluator:
                yield EvaluatorServicer(evaluator, check_ready=evaluator.check_writable)
        case ServiceName.RECORDS:
            from scaar.records.settings import RecordsSettings

            assert isinstance(settings, RecordsSettings)
            async with compose.open_stored_records(settings) as records:
                yield RecordsServicer(records, check_ready=records.check_ready)
        case ServiceName.GATEWAY | ServiceName.CONSOLE:
            raise AssertionError(f"the {service} serves no contract")
        case _:
            assert_never(service)
