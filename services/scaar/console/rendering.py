"""Pages from templates, and what every page knows of its request."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from scaar import __version__
from scaar.console.back_ends import BackEnds, Ports
from scaar.console.settings import ConsoleSettings
from scaar.core.plurals import counted

FOLDER = Path(__file__).parent
PAGES = (
    ("/", "Ask"),
    ("/answers", "Answers"),
    ("/policies", "Policies"),
    ("/indexes", "Indexes"),
    ("/evaluations", "Evaluations"),
    ("/drift", "Drift"),
    ("/system", "System"),
)
"""The pages of the navigation."""


@cache
def templates() -> Environment:
    """Return the templates, which escape every value."""
    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(FOLDER / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = counted
    return environment


def back_ends_of(request: Request) -> BackEnds:
    """Return the services behind the console."""
    found: BackEnds = request.app.state.back_ends
    return found


def settings_of(request: Request) -> ConsoleSettings:
    """Return the settings of the console."""
    found: ConsoleSettings = request.app.state.settings
    return found


def ports_of(request: Request) -> Ports:
    """Return the ports of the services for the caller of the request.

    Raises:
        Unauthenticated: the token is missing, or is none.
    """
    return back_ends_of(request).ports(request.headers, request.state.request_id)


def render(
    request: Request, template: str, context: Mapping[str, Any], *, status: int = 200
) -> HTMLResponse:
    """Return a page, or a fragment of one, from a template."""
    path = request.url.path
    current = next((href for href, _ in reversed(PAGES) if path.startswith(href)), "")
    shared = {"pages": PAGES, "current": current, "version": __version__}
    text = templates().get_template(template).render({**shared, **context})
    return HTMLResponse(text, status)
