"""The services of the running ``scaar up``, for commands that are given no address."""

import time

from scaar.cli.notes import print_notes
from scaar.cli.running_up import RunningUp, find_running_up
from scaar.cli.serve.services import ServiceName, default_address
from scaar.compose import EMBEDDED

_POLL_S = 0.2
_ALONE = " (--address embedded: this process alone)"


def running_target(service: ServiceName) -> str:
    """Return the target of a service of the running ``scaar up``, else that of its default port.

    Waits until a ``scaar up`` that is still starting is ready or has ended.
    """
    while (running := find_running_up()) is not None:
        if (target := running.target_of(service)) is None:
            break
        if running.is_ready:
            return target
        _wait_for(running)
    return f"dns:///{default_address(service)}"


def choose_orchestrator() -> str:
    """Return the target of the running ``scaar up`` of the data folder, else ``embedded``.

    Waits until a ``scaar up`` that is still starting is ready or has ended. It is not used if it
    identifies its callers, or if a setting of this process differs from its own. The choice is
    reported on standard error, unless none runs.
    """
    while (running := find_running_up()) is not None:
        if (target := running.target_of(ServiceName.ORCHESTRATOR)) is None:
            print_notes(f"scaar up, process {running.pid}, asks for an identity: not used")
            break
        if differing := running.differing_settings():
            print_notes(
                f"scaar up at {running.orchestrator} is not used: it has another {differing[0]}"
            )
            break
        if running.is_ready:
            print_notes(f"using scaar up at {running.orchestrator}{_ALONE}")
            return target
        _wait_for(running, advice=_ALONE)
    return EMBEDDED


def _wait_for(running: RunningUp, *, advice: str = "") -> None:
    """Wait until a ``scaar up`` is ready or has ended."""
    print_notes(f"waiting for scaar up, process {running.pid}, which is still starting{advice}")
    while (found := find_running_up()) is not None and found.pid == running.pid:
        if found.is_ready:
            return
        time.sleep(_POLL_S)
    print_notes(f"scaar up, process {running.pid}, has ended before it was ready")
