"""The system page: services with their readiness, models, and the settings of the console."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar import __version__
from scaar.console.loading import Loading
from scaar.console.rendering import back_ends_of, ports_of, render, settings_of
from scaar.console.system_rows import (
    ServiceState,
    description_tables,
    service_table,
    settings_table,
)
from scaar.runtime.settings import variable_of

_PAGES = {
    "orchestrator": "Ask, Policies, Indexes, the expectations of Drift",
    "records": "Answers, Drift",
    "evaluator": "Evaluations",
}
_HIDDEN = frozenset({"tls_key_file"})
"""Paths of keys are nobody's business."""


async def system(request: Request) -> Response:
    """Return the services, the models and the settings."""
    loading = Loading()
    # The page shows what it can if a service does not respond: that is what it is for.
    described = await loading.want(
        "orchestrator", ports_of(request).catalog, lambda catalog: catalog.describe()
    )
    context = {
        "notices": loading.notices,
        "services": service_table(await _services(request)),
        "facts": description_tables(described, __version__) if described else (),
        "settings": settings_table(_settings(request)),
    }
    return render(request, "system.html", context, status=200)


async def _services(request: Request) -> list[ServiceState]:
    back_ends = back_ends_of(request)
    serving = await back_ends.are_serving()
    return [
        ServiceState(role, each.target, serving=serving[role], pages=_PAGES.get(role, ""))
        for role, each in back_ends.services.items()
    ]


def _settings(request: Request) -> list[tuple[str, str]]:
    """Return the settings by variable, as texts; none of them is a secret."""
    settings = settings_of(request)
    shown = [name for name in type(settings).model_fields if name not in _HIDDEN]
    return [(variable_of(type(settings), name), _text(getattr(settings, name))) for name in shown]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


routes = (Route("/system", system),)
