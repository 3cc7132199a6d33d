"""The HTTP server of the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scaar.core.observers import UNOBSERVED_REQUESTS, RequestObserver
from scaar.gateway.app import build_app
from scaar.gateway.orchestrator import open_orchestrator
from scaar.gateway.settings import GatewaySettings
from scaar.http_server.server import Readiness, serving_app

DEFAULT_ADDRESS = "127.0.0.1:8090"


@asynccontextmanager
async def open_gateway(
    settings: GatewaySettings, *, observer: RequestObserver = UNOBSERVED_REQUESTS
) -> AsyncIterator[str]:
    """Serve until the block ends, then drain and stop as configured; yield the URL.

    Raises:
        AlreadyExists: the address is in use.
        InvalidRequest: the address cannot be bound, or a setting or its file is invalid.
    """
    readiness = Readiness()
    async with open_orchestrator(
        settings.orchestrator_target, require_token=settings.require_token
    ) as orchestrator:
        app = build_app(orchestrator, settings, readiness=readiness, observer=observer)
        async with serving_app(
            app, settings, default_address=DEFAULT_ADDRESS, readiness=readiness
        ) as url:
            yield url
