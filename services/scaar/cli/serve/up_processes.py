"""``scaar up --processes``: each service in a process of its own on loopback."""

import asyncio
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial

from scaar.cli.serve.services import BACK_ENDS, ServiceName
from scaar.cli.serve.up_plan import Note, RunningServices, UpPlan
from scaar.cli.serve.up_readiness import until_ready
from scaar.compose import open_indexes
from scaar.core.errors import BackendUnavailable

# Seconds for a service to exit, beyond the grace period of its settings.
STOP_MARGIN_S = 5.0
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


@asynccontextmanager
async def open_processes(plan: UpPlan, note: Note) -> AsyncIterator[RunningServices]:
    """Run each service of the plan in a process of its own, on loopback.

    Raises:
        BackendUnavailable: a service does not start.
    """
    processes: dict[ServiceName, Process] = {}
    try:
        for group in _ORDER:
            started = {name: plan.addresses[name] for name in group if name in plan.addresses}
            for name in started:
                processes[name] = await _start(name, plan.addresses)
            await until_ready(started, processes, note)
        retriever = f"dns:///{plan.addresses[ServiceName.RETRIEVER]}"
        yield RunningServices(partial(open_indexes, retriever), partial(_failure, processes))
    finally:
        # Callers stop first: their answers need the others until the end.
        for group in reversed(_ORDER):
            running = [processes[name] for name in group if name in processes]
            await _stop(running, plan.stop_timeout_s + STOP_MARGIN_S)


async def _start(name: ServiceName, addresses: Mapping[ServiceName, str]) -> Process:
    command = [sys.executable, "-m", "scaar.cli", "serve", name, "--address", addresses[name]]
    for other in (each for each in _CALLS.get(name, ()) if each in addresses):
        command += [f"--{other}", f"dns:///{addresses[other]}"]
    command.append("--until-stdin-closes")
    # With a session of its own, Ctrl-C reaches only this process, which stops them in order. The
    # pipe closes if this process is killed.
    return await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, start_new_session=True
    )


async def _failure(processes: Mapping[ServiceName, Process]) -> None:
    """Wait for a process to end, and raise its failure."""
    waits = {asyncio.create_task(process.wait()): name for name, process in processes.items()}
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    name = waits[next(iter(done))]
    status = processes[name].returncode
    raise BackendUnavailable(f"{name} exited with status {status}; all services are stopped")


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
