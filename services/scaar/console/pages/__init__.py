"""The pages of the console, one module each."""

from starlette.routing import BaseRoute

from scaar.console.pages import answer, ask

ROUTES: tuple[BaseRoute, ...] = (*ask.routes, *answer.routes)
"""The routes of all pages."""
