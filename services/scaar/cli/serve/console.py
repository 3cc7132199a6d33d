"""``scaar serve console``: pages over the services."""

import asyncio
import sys

from scaar.core.distributions import library_required
from scaar.runtime.garbage_collection import exclude_present_objects
from scaar.runtime.settings import ProcessSettings
from scaar.telemetry.setup import open_http_metrics


async def serve_console(settings: ProcessSettings, stopping: asyncio.Event) -> None:
    """Serve until the event is set.

    Raises:
        CapabilityMissing: a library of the console is not installed.
    """
    with library_required("the console", "console"):
        from scaar.console.server import open_console
        from scaar.console.settings import ConsoleSettings
    assert isinstance(settings, ConsoleSettings)
    async with (
        open_http_metrics(settings.metrics_address, service="console") as (observer, metrics),
        open_console(settings, observer=observer) as url,
    ):
        print(f"console serving on {url}", file=sys.stderr, flush=True)
        if metrics:
            print(f"metrics at http://{metrics}/metrics", file=sys.stderr, flush=True)
        exclude_present_objects()
        await stopping.wait()
