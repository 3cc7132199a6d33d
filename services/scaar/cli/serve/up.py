"""``scaar up``: run the services, the gateway and the console as processes on loopback."""

import asyncio
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli.serve import up_documents as of_documents
from scaar.cli.serve.services import (
    BACK_ENDS,
    BASE_PORT,
    CONSOLE_PORT,
    GATEWAY_PORT,
    GRPC_SERVICES,
    HTTP_PORTS,
    ServiceName,
    default_address,
)
from scaar.cli.serve.up_readiness import until_ready
from scaar.cli.serve.up_records import records_settings
from scaar.cli.serve.up_time import unlimited_answers
from scaar.cli.settings import read_every
from scaar.cli.tables import Column, Table, show_table
from scaar.compose import missing_scorer, policy_with_contributions, read_policies
from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest
from scaar.core.records import RecordContent
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.addresses import check_free
from scaar.runtime.settings import ProcessSettings

# Seconds for a service to exit, beyond the grace period of its settings.
STOP_MARGIN_S = 5.0
HIGHEST_PORT = 65_535
_OPTIONS = {each: f"{each.value}-port" for each in HTTP_PORTS}
# Callers start after the services that they call, and stop before them.
_ORDER = (
    # The records create their database, to which the orchestrator writes.
    (*BACK_ENDS, ServiceName.RECORDS),
    (ServiceName.ORCHESTRATOR,),
    (ServiceName.EVALUATOR, ServiceName.GATEWAY),
    (ServiceName.CONSOLE,),
)
_CALLS = {
    ServiceName.ORCHESTRATOR: BACK_ENDS,
    ServiceName.EVALUATOR: (ServiceName.ORCHESTRATOR,),
    ServiceName.GATEWAY: (ServiceName.ORCHESTRATOR,),
    ServiceName.CONSOLE: (ServiceName.ORCHESTRATOR, ServiceName.RECORDS, ServiceName.EVALUATOR),
}


def up(
    base_port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            help="Port of the orchestrator; the other services take the next six ports.",
        ),
    ] = BASE_PORT,
    gateway_port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            help="Port of the gateway, which serves HTTP, MCP and gRPC-Web; 0 runs none.",
        ),
    ] = GATEWAY_PORT,
    console_port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            help="Port of the console, which serves pages for a browser; 0 runs none.",
        ),
    ] = CONSOLE_PORT,
    records: Annotated[
        RecordContent,
        typer.Option(
            help="Texts that are kept of the answers on this machine, unless "
            "SCAAR_ORCHESTRATOR_RECORDS_CONTENT or …_DATABASE is set. hashed needs the key "
            "SCAAR_ORCHESTRATOR_RECORDS_HASH_KEY_FILE.",
        ),
    ] = RecordContent.FULL,
    model_url: of_documents.ModelUrl = None,
    documents: of_documents.Documents = None,
    index: of_documents.Index = None,
    url_prefix: of_documents.UrlPrefix = None,
) -> None:
    """Run all services on this machine until Ctrl-C.

    Each service is a process of its own and listens on loopback.
    """
    highest = HIGHEST_PORT - len(GRPC_SERVICES) + 1
    if not 1 <= base_port <= highest:
        raise InvalidRequest.of("--base-port", f"must be 1 to {highest}, not {base_port}")
    for name, port in (("gateway", gateway_port), ("console", console_port)):
        if not 0 <= port <= HIGHEST_PORT:
            text = f"must be 0 to {HIGHEST_PORT}, not {port}"
            raise InvalidRequest.of(f"--{name}-port", text)
    ports = {ServiceName.GATEWAY: gateway_port, ServiceName.CONSOLE: console_port}
    addresses = _addresses(base_port, ports)
    indexed = of_documents.up_documents(documents, index=index, url_prefix=url_prefix)
    with (
        of_documents.settings_of(model_url, indexed),
        records_settings(records),
        unlimited_answers(),
    ):
        # Report every invalid setting before the first service is started.
        settings = read_every()
        stop_timeout_s = max(each.drain_s + each.stop_grace_s for each in settings.values())
        urls = http_urls(addresses, settings)
        if not _has_scorer():
            # Policies without contributions answer.
            del addresses[ServiceName.SCORER]
        asyncio.run(_up(addresses, urls, stop_timeout_s + STOP_MARGIN_S, indexed))


def _has_scorer() -> bool:
    """Return whether a scorer is installed or set.

    Raises:
        CapabilityMissing: none is, and the default policy uses contributions.
    """
    if (missing := missing_scorer()) is None:
        return True
    settings = OrchestratorSettings.read()
    if policy := policy_with_contributions(settings, read_policies(settings)):
        raise CapabilityMissing(f"policy {policy}: {missing.message}")
    return False


def _addresses(base_port: int, ports: Mapping[ServiceName, int]) -> dict[ServiceName, str]:
    addresses: dict[ServiceName, str] = {}
    for name in GRPC_SERVICES:
        addresses[name] = default_address(name, base_port)
    for name, port in ports.items():
        if port:
            address = f"127.0.0.1:{port}"
            for other in (each for each in addresses if addresses[each] == address):
                text = f"must not be {port}, the port of the {other}"
                raise InvalidRequest.of(f"--{name}-port", text)
            addresses[name] = address
    return addresses


def http_urls(
    addresses: Mapping[ServiceName, str], settings: Mapping[ServiceName, ProcessSettings]
) -> dict[ServiceName, str]:
    """Return the URLs of the services of HTTP that run, by TLS if they have a certificate."""
    return {
        name: f"http{'s' if settings[name].tls_cert_file else ''}://{addresses[name]}"
        for name in HTTP_PORTS
        if name in addresses
    }


async def _up(
    addresses: dict[ServiceName, str],
    urls: Mapping[ServiceName, str],
    stop_timeout_s: float,
    documents: of_documents.UpDocuments | None,
) -> None:
    console = Console(stderr=True)
    note = partial(console.print, soft_wrap=True)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    # Stop the services when the terminal is closed, too.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopping.set)
    for name, address in addresses.items():
        # Another process on this port could be mistaken for one of the services.
        check_free(address, option=f"--{_OPTIONS.get(name, 'base-port')}")
    processes: dict[ServiceName, Process] = {}
    stopped = asyncio.create_task(stopping.wait())
    try:
        with console.status("starting the services"):
            # The orchestrator calls the back ends, and the evaluator calls the orchestrator.
            for group in _ORDER:
                names = [name for name in group if name in addresses]
                for name in names:
                    processes[name] = await _start(name, addresses)
                started = {name: addresses[name] for name in names}
                ready = asyncio.create_task(until_ready(started, processes, note))
                await asyncio.wait({ready, stopped}, return_when=asyncio.FIRST_COMPLETED)
                if stopped.done():
                    ready.cancel()
                    return
                await ready
        if documents is not None:
            retriever = f"dns:///{addresses[ServiceName.RETRIEVER]}"
            if not await documents.start(retriever, stopped):
                return
        show_table(_table(addresses), console)
        if gateway := urls.get(ServiceName.GATEWAY):
            console.print(f"OpenAI clients: base URL {gateway}/v1", soft_wrap=True)
        if pages := urls.get(ServiceName.CONSOLE):
            console.print(f"Console: {pages}", soft_wrap=True)
        orchestrator = addresses[ServiceName.ORCHESTRATOR]
        named = f" --index {documents.name}" if documents is not None else ""
        console.print(
            f'Ask: scaar ask "QUESTION"{named} --address {orchestrator}    Stop: Ctrl-C',
            soft_wrap=True,
        )
        ended_early = asyncio.create_task(_first_to_end(processes))
        await asyncio.wait({ended_early, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not stopped.done():
            name = await ended_early
            status = processes[name].returncode
            raise BackendUnavailable(
                f"{name} exited with status {status}; all services are stopped"
            )
        ended_early.cancel()
    finally:
        stopped.cancel()
        if documents is not None:
            await documents.close()
        # Callers stop first: their answers need the others until the end.
        for group in reversed(_ORDER):
            running = [processes[name] for name in group if name in processes]
            await _stop(running, stop_timeout_s)
        console.print("stopped")


async def _start(name: ServiceName, addresses: dict[ServiceName, str]) -> Process:
    command = [sys.executable, "-m", "scaar.cli", "serve", name, "--address", addresses[name]]
    for other in (each for each in _CALLS.get(name, ()) if each in addresses):
        command += [f"--{other}", f"dns:///{addresses[other]}"]
    command.append("--until-stdin-closes")
    # With a session of its own, Ctrl-C reaches only this process, which stops them in order. The
    # pipe closes if this process is killed.
    return await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, start_new_session=True
    )


async def _first_to_end(processes: dict[ServiceName, Process]) -> ServiceName:
    waits = {asyncio.create_task(process.wait()): name for name, process in processes.items()}
    done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in pending:
        wait.cancel()
    return waits[next(iter(done))]


async def _stop(processes: Iterable[Process], timeout_s: float) -> None:
    running = [process for process in processes if process.returncode is None]
    for process in running:
        with suppress(ProcessLookupError):
            process.terminate()
    waits = [asyncio.create_task(process.wait()) for process in running]
    if waits:
        _, late = await asyncio.wait(waits, timeout=timeout_s)
        for process, wait in zip(running, waits, strict=True):
            if wait in late:
                process.kill()
                await wait


def _table(addresses: dict[ServiceName, str]) -> Table:
    columns = (Column("service", right=False), Column("address", right=False), Column("status"))
    rows = [(name.value, address, "SERVING") for name, address in addresses.items()]
    return Table(columns, rows)
