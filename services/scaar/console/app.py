"""The application of the console: its pages, its files, its errors and its health."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from scaar import __version__
from scaar.console.back_ends import BackEnds
from scaar.console.pages import ROUTES
from scaar.console.protection import Protection
from scaar.console.rendering import FOLDER, render
from scaar.console.settings import ConsoleSettings
from scaar.console.statuses import status_of
from scaar.core.errors import ScaarError
from scaar.core.observers import UNOBSERVED_REQUESTS, RequestObserver
from scaar.http_server.host_check import HostCheck
from scaar.http_server.hosts import HostRule
from scaar.http_server.requests import Requests
from scaar.http_server.server import Readiness
from scaar.runtime.admission import Admission
from scaar.runtime.settings import variable_of

_MAX_BODY_BYTES = 262_144
_COMPRESSED_BYTES = 1_024
"""Minimum size of a response that is compressed; live answers never are."""
_HEADINGS = {
    400: "The request is not valid",
    401: "Who are you?",
    403: "Not permitted",
    404: "There is no such page",
    429: "Too many requests",
    503: "A service does not respond",
    504: "A service took too long",
}


def build_app(
    back_ends: BackEnds,
    settings: ConsoleSettings,
    *,
    readiness: Readiness | None = None,
    observer: RequestObserver = UNOBSERVED_REQUESTS,
) -> Starlette:
    """Return the application over the services."""
    ready = readiness or Readiness()

    async def healthz(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok", "version": __version__})

    async def readyz(_: Request) -> JSONResponse:
        # A page shows which service is missing, so that the console is ready without any.
        if ready.draining:
            return JSONResponse({"status": "draining"}, 503)
        return JSONResponse({"status": "ready"})

    app = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static"),
            *ROUTES,
        ],
        middleware=[
            # No page has a secret that a compressed size could reveal (BREACH).
            Middleware(GZipMiddleware, minimum_size=_COMPRESSED_BYTES, compresslevel=6),
            Middleware(Protection),
            Middleware(
                Requests,
                admission=Admission(settings.max_concurrent_requests, subject="the console"),
                max_body_bytes=_MAX_BODY_BYTES,
                error_response=_plain_error,
                observer=observer,
            ),
            Middleware(
                HostCheck,
                rule=HostRule(settings.address, settings.allowed_hosts),
                setting=variable_of(ConsoleSettings, "allowed_hosts"),
                error_response=_plain_error,
            ),
        ],
        exception_handlers={ScaarError: _error_page, HTTPException: _http_error_page},
    )
    app.state.back_ends, app.state.settings = back_ends, settings
    return app


async def _error_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, ScaarError)
    return _page(request, status_of(error), error.message)


async def _http_error_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _page(request, error.status_code, str(error.detail))


def _page(request: Request, status: int, message: str) -> Response:
    heading = _HEADINGS.get(status, "Something went wrong")
    response = render(
        request, "error.html", {"heading": heading, "message": message}, status=status
    )
    if status == 401:
        response.headers["www-authenticate"] = "Bearer"
    return response


def _plain_error(error: ScaarError) -> Response:
    return PlainTextResponse(error.message, status_of(error))
