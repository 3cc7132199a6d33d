"""The HTTP server of the console."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scaar.console.app import build_app
from scaar.console.back_ends import open_back_ends
from scaar.console.settings import ConsoleSettings
from scaar.core.observers import UNOBSERVED_REQUESTS, RequestObserver
from scaar.http_server.server import Readiness, serving_app

DEFAULT_ADDRESS = "127.0.0.1:8091"


@asynccontextmanager
async def open_console(
    settings: ConsoleSettings, *, observer: RequestObserver = UNOBSERVED_REQUESTS
) -> AsyncIterator[str]:
    """Serve until the block ends, then drain and stop as configured; yield the URL.

    Raises:
        AlreadyExists: the address is in use.
        InvalidRequest: the address cannot be bound, or a setting or its file is invalid.
    """
    readiness = Readiness()
    async with open_back_ends(settings) as back_ends:
        app = build_app(back_ends, settings, readiness=readiness, observer=observer)
        async with serving_app(
            app, settings, default_address=DEFAULT_ADDRESS, readiness=readiness
        ) as url:
            yield url
