"""``scaar serve gateway`` and ``scaar serve console``: HTTP in front of the services."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from scaar.core.distributions import library_required
from scaar.runtime.garbage_collection import exclude_present_objects
from scaar.runtime.settings import ProcessSettings
from scaar.telemetry.setup import open_http_metrics


async def serve_gateway(settings: ProcessSettings, stopping: asyncio.Event) -> None:
    """Serve until the event is set.

    Raises:
        CapabilityMissing: a library of the gateway is not installed.
    """
    with library_required("the gateway", "gateway"):
        from scaar.gateway.server import open_gateway
    await _serve("gateway", open_gateway, settings, stopping)


async def serve_console(settings: ProcessSettings, stopping: asyncio.Event) -> None:
    """Serve until the event is set.

    Raises:
        CapabilityMissing: a library of the console is not installed.
    """
    with library_required("the console", "console"):
        from scaar.console.server import open_console
    await _serve("console", open_console, settings, stopping)


async def _serve(
    name: str,
    open_server: Callable[..., AbstractAsyncContextManager[str]],
    settings: Any,
    stopping: asyncio.Event,
) -> None:
    async with (
        open_http_metrics(settings.metrics_address, service=name) as (observer, metrics),
        open_server(settings, observer=observer) as url,
    ):
        print(f"{name} serving on {url}", file=sys.stderr, flush=True)
        if metrics:
            print(f"metrics at http://{metrics}/metrics", file=sys.stderr, flush=True)
        exclude_present_objects()
        await stopping.wait()
