"""``scaar up``: run the services, the gateway and the console on loopback."""

import asyncio
from contextlib import ExitStack
from typing import Annotated

import typer

from scaar.cli.serve import up_documents as of_documents
from scaar.cli.serve.installed import services_not_installed
from scaar.cli.serve.services import (
    BASE_PORT,
    CONSOLE_PORT,
    GATEWAY_PORT,
    ServiceName,
)
from scaar.cli.serve.up_one_process import check_one_server, open_in_one_process
from scaar.cli.serve.up_plan import build_plan, check_ports
from scaar.cli.serve.up_processes import open_processes
from scaar.cli.serve.up_records import records_settings
from scaar.cli.serve.up_run import run_services
from scaar.cli.serve.up_time import unlimited_answers
from scaar.cli.settings import read_every
from scaar.compose import missing_scorer, policy_with_contributions, read_policies
from scaar.core.errors import CapabilityMissing
from scaar.core.records import RecordContent
from scaar.orchestrator.settings import OrchestratorSettings


def up(
    processes: Annotated[
        bool,
        typer.Option(
            "--processes",
            help="Run each service in a process and on a port of its own. By default one process "
            "runs all of them, and opens the ports of the orchestrator, the gateway and the "
            "console only.",
        ),
    ] = False,
    base_port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            help="Port of the orchestrator; with --processes the other services take the next six "
            "ports.",
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

    They listen on loopback.
    """
    ports = {
        ServiceName.ORCHESTRATOR: base_port,
        ServiceName.GATEWAY: gateway_port,
        ServiceName.CONSOLE: console_port,
    }
    check_ports(ports, processes=processes)
    not_installed = services_not_installed()
    indexed = of_documents.up_documents(documents, index=index, url_prefix=url_prefix)
    with ExitStack() as stack:
        stack.enter_context(of_documents.settings_of(model_url, indexed))
        if ServiceName.RECORDS not in not_installed:
            stack.enter_context(records_settings(records))
        stack.enter_context(unlimited_answers())
        # Report every invalid setting before the first service is started.
        settings = read_every()
        # Without a scorer, policies without contributions answer.
        left_out = not_installed if _has_scorer() else (*not_installed, ServiceName.SCORER)
        services = [name for name in ServiceName if name not in left_out]
        plan = build_plan(services, ports, settings, processes=processes)
        if not processes:
            check_one_server(plan)
        opening = open_processes if processes else open_in_one_process
        asyncio.run(run_services(plan, opening, indexed))


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
