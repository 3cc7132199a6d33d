"""Running the services of ``scaar up`` until a signal."""

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from functools import partial

from rich.console import Console

from scaar.cli.running_up import RunFile
from scaar.cli.serve.installed import services_not_installed
from scaar.cli.serve.services import ServiceName
from scaar.cli.serve.up_documents import UpDocuments
from scaar.cli.serve.up_plan import OpenServices, UpPlan
from scaar.cli.serve.up_records import records_notice
from scaar.cli.tables import Column, Table, show_table
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.garbage_collection import return_free_memory


async def run_services(
    plan: UpPlan, open_services: OpenServices, documents: UpDocuments | None, file: RunFile
) -> None:
    """Run the services, and keep the index of documents current, until a signal.

    The file says when they are ready.

    Raises:
        ScaarError: a service cannot start, or has ended.
    """
    console = Console(stderr=True)
    stopping = asyncio.Event()
    # Stop the services when the terminal is closed, too.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    serving = asyncio.create_task(_serve(plan, open_services, documents, file, console))
    stopped = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
    finally:
        stopped.cancel()
        console.print("stopped")


async def _serve(
    plan: UpPlan,
    open_services: OpenServices,
    documents: UpDocuments | None,
    file: RunFile,
    console: Console,
) -> None:
    """Run the services until they fail or the task is cancelled."""
    async with AsyncExitStack() as stack:
        with console.status("starting the services"):
            note = partial(console.print, soft_wrap=True)
            services = await stack.enter_async_context(open_services(plan, note))
        if documents is not None:
            indexes = await stack.enter_async_context(services.open_indexes())
            await stack.enter_async_context(documents.kept_current(indexes))
        return_free_memory()
        file.announce_ready()
        _show(plan, documents, console)
        await services.failure()


def _show(plan: UpPlan, documents: UpDocuments | None, console: Console) -> None:
    """Print what is ready, and how to use it."""
    show_table(_table(plan), console)
    show = partial(console.print, soft_wrap=True)
    if plan.embedded:
        show(f"In the same process: {', '.join(plan.embedded)}")
    if not_installed := services_not_installed():
        missing = ", ".join(f"{name} (scaar[{name}])" for name in not_installed)
        show(f"Left out, since not installed: {missing}", markup=False)
    if notice := records_notice(OrchestratorSettings.read()):
        show(notice, markup=False)
    if gateway := plan.urls.get(ServiceName.GATEWAY):
        show(f"OpenAI clients: base URL {gateway}/v1")
    if pages := plan.urls.get(ServiceName.CONSOLE):
        show(f"Console: {pages}")
    where = "" if plan.is_open else f" --address {plan.addresses[ServiceName.ORCHESTRATOR]}"
    show(f'Ask: scaar ask "QUESTION"{where}    Stop: Ctrl-C')


def _table(plan: UpPlan) -> Table:
    columns = (Column("service", right=False), Column("address", right=False), Column("status"))
    rows = [(name.value, address, "SERVING") for name, address in plan.addresses.items()]
    return Table(columns, rows)
