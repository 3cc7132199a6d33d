"""``scaar up``: run the services, the gateway and the console on loopback."""

import asyncio
from contextlib import ExitStack
from typing import Annotated

import typer

from scaar.cli.documents_policy import documents_policy_settings
from scaar.cli.environment import settings_in_environment
from scaar.cli.index.folder_index import Hybrid
from scaar.cli.models import choice as of_models
from scaar.cli.running_up import run_file
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
from scaar.core.errors import CapabilityMissing, InvalidRequest
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
    hybrid: Hybrid = None,
    model: of_models.Model = None,
    yes: of_models.Yes = False,
    offline: of_models.Offline = False,
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
    _check_model(model, model_url, chosen=documents is not None, yes=yes, offline=offline)
    with ExitStack() as stack:
        # From here on, questions of other commands wait instead of loading the model again.
        file = stack.enter_context(run_file())
        indexed = of_documents.up_documents(
            documents, index=index, url_prefix=url_prefix, hybrid=hybrid
        )
        stack.enter_context(of_documents.settings_of(model_url, indexed))
        choice = None
        if documents is not None:
            stack.enter_context(settings_in_environment(documents_policy_settings()))
        if documents is not None or model is not None:
            choice = of_models.choose_model(model)
            stack.enter_context(settings_in_environment(choice.settings))
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
        file.announce(plan.callable_addresses, is_open=plan.is_open)
        plan.check_free()
        if choice is not None:
            choice.ensure(yes=yes, offline=offline)
        opening = open_processes if processes else open_in_one_process
        asyncio.run(run_services(plan, opening, indexed, file))


def _check_model(
    model: str | None, model_url: str | None, *, chosen: bool, yes: bool, offline: bool
) -> None:
    """Check the options of a model, which is ``chosen`` for a folder of documents too.

    Raises:
        InvalidRequest: an option lacks the one it belongs to, or two models are named.
    """
    if model is not None and model_url is not None:
        raise InvalidRequest.of("--model", "cannot be combined with --model-url")
    for option, is_given in (("--yes", yes), ("--offline", offline)):
        if is_given and model is None and not chosen:
            raise InvalidRequest.of(option, "requires --documents or --model")


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
