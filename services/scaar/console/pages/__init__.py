"""The pages of the console, one module each."""

from starlette.routing import BaseRoute

from scaar.console.pages import (
    answers,
    comparisons,
    drift,
    evaluations,
    indexes,
    policies,
    system,
)

ROUTES: tuple[BaseRoute, ...] = (
    *answers.routes,
    *policies.routes,
    *indexes.routes,
    *comparisons.routes,
    *evaluations.routes,
    *drift.routes,
    *system.routes,
)
"""The routes of all pages."""
