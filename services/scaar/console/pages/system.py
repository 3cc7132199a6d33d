"""The system page: services with their readiness, models, and the settings of the console."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar import __version__
from scaar.console.list_pages import ports_of, render, service_states, shown_settings
from scaar.console.loading import Loading
from scaar.console.system_rows import description_tables, service_table, settings_table


async def system(request: Request) -> Response:
    """Return the services, the models and the settings."""
    loading = Loading()
    # The page shows what it can if a service does not respond: that is what it is for.
    described = await loading.want(
        "orchestrator", ports_of(request).catalog, lambda catalog: catalog.describe()
    )
    context = {
        "notices": loading.notices,
        "services": service_table(await service_states(request)),
        "facts": description_tables(described, __version__) if described else (),
        "settings": settings_table(shown_settings(request)),
    }
    return render(request, "system.html", context, status=200)


routes = (Route("/system", system),)
