"""``scaar serve gateway``: HTTP in front of an orchestrator."""

import asyncio
import sys

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
        from scaar.gateway.settings import GatewaySettings
    assert isinstance(settings, GatewaySettings)
    async with (
        open_http_metrics(settings.metrics_address, service="gateway") as (observer, metrics),
        open_gateway(settings, observer=observer) as gateway,
    ):
        print(f"gateway serving on {gateway}", file=sys.stderr, flush=True)
        if metrics:
            print(f"metrics at http://{metrics}/metrics", file=sys.stderr, flush=True)
        exclude_present_objects()
        await stopping.wait()
