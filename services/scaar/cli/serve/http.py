"""The services of HTTP in front of an orchestrator: the gateway and the console."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from scaar.cli.serve.services import ServiceName
from scaar.core.distributions import library_required
from scaar.runtime.garbage_collection import exclude_present_objects
from scaar.runtime.settings import ProcessSettings
from scaar.telemetry.setup import open_http_metrics

if TYPE_CHECKING:
    from scaar.console.settings import ConsoleSettings
    from scaar.gateway.settings import GatewaySettings

HttpService = Literal[ServiceName.GATEWAY, ServiceName.CONSOLE]


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A running server of HTTP: its URL, and the address of its metrics, empty without metrics."""

    url: str
    metrics_address: str


@asynccontextmanager
async def open_http(service: HttpService, settings: ProcessSettings) -> AsyncIterator[HttpServer]:
    """Serve the gateway or the console until the block ends.

    Raises:
        CapabilityMissing: a library of the service is not installed.
        AlreadyExists: the address is in use.
        InvalidRequest: the address cannot be bound, or a setting or its file is invalid.
    """
    async with open_http_metrics(settings.metrics_address, service=service) as (observer, metrics):
        if service is ServiceName.GATEWAY:
            with library_required("the gateway", "gateway"):
                from scaar.gateway.server import open_gateway
            opening = open_gateway(cast("GatewaySettings", settings), observer=observer)
        else:
            with library_required("the console", "console"):
                from scaar.console.server import open_console
            opening = open_console(cast("ConsoleSettings", settings), observer=observer)
        async with opening as url:
            yield HttpServer(url, metrics)


async def serve_http(
    service: HttpService, settings: ProcessSettings, stopping: asyncio.Event
) -> None:
    """Serve until the event is set, as :func:`open_http`."""
    async with open_http(service, settings) as server:
        print(f"{service} serving on {server.url}", file=sys.stderr, flush=True)
        if server.metrics_address:
            print(f"metrics at http://{server.metrics_address}/metrics", file=sys.stderr)
        exclude_present_objects()
        await stopping.wait()
