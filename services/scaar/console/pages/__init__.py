"""The pages of the console, one module each."""

from starlette.routing import BaseRoute

from scaar.console.pages import (
    answer,
    answers,
    ask,
    comparisons,
    drift,
    evaluations,
    indexes,
    passage,
    policies,
    system,
)

ROUTES: tuple[BaseRoute, ...] = (
    *ask.routes,
    *answers.routes,
    *answer.routes,
    *policies.routes,
    *indexes.routes,
    *passage.routes,
    *comparisons.routes,
    *evaluations.routes,
    *drift.routes,
    *system.routes,
)
"""The routes of all pages."""
