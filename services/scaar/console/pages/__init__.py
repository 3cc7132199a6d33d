"""The pages of the console, one module each."""

from starlette.routing import BaseRoute

ROUTES: tuple[BaseRoute, ...] = ()
"""The routes of all pages."""
