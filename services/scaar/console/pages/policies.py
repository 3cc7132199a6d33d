"""The policies, and a page of each."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar.console.loading import Loading
from scaar.console.policy_rows import (
    artefact_table,
    ask_href,
    missing_text,
    moments_text,
    published_table,
    settings_table,
    tuned_table,
)
from scaar.console.rendering import ports_of, render, settings_of
from scaar.core.types import PolicyDescription


async def policies(request: Request) -> Response:
    """Return the published and the tuned policies."""
    catalog, loading = ports_of(request).catalog, Loading()
    found = await loading.need("orchestrator", catalog, lambda catalog: catalog.list_policies())
    context: dict[str, object] = {
        "notices": loading.notices,
        "published": None,
        "default_policy": "",
    }
    if found is not None:
        described = await loading.want("orchestrator", catalog, lambda catalog: catalog.describe())
        context |= {
            "published": published_table(found),
            "tuned": tuned_table(found),
            "default_policy": described.default_policy if described else "",
        }
    return render(request, "policies.html", context, status=loading.status)


async def policy(request: Request) -> Response:
    """Return the settings of a policy, with their sources, and its artefact."""
    name, loading = request.path_params["name"], Loading()
    catalog = ports_of(request).catalog
    found = await loading.need("orchestrator", catalog, lambda catalog: catalog.list_policies())
    described = next((each for each in found or () if each.name == name), None)
    if described is None:
        if found is not None:
            loading.notices.append(f"The orchestrator serves no policy {name!r}.")
            loading.status = 404
        context = {"heading": "Policy", "notices": loading.notices, "up": "/policies"}
        return render(request, "missing.html", context, status=loading.status)
    return render(request, "policy.html", _policy(request, described), status=200)


def _policy(request: Request, described: PolicyDescription) -> dict[str, object]:
    artefact = described.artefact
    documented = artefact.policy if artefact is not None else described.name
    return {
        "name": described.name,
        "moments": moments_text(described.policy),
        "missing": missing_text(described),
        "mismatches": artefact.mismatches if artefact is not None else (),
        "documented": documented,
        "docs_href": _docs_href(request, documented),
        "ask_href": ask_href(described.name),
        "settings": settings_table(described),
        "artefact": artefact_table(artefact) if artefact is not None else None,
    }


def _docs_href(request: Request, policy: str) -> str:
    """Return the link to the method of a policy; empty without a published documentation."""
    url = settings_of(request).docs_url
    return f"{url.rstrip('/')}/policies/#{policy}" if url else ""


routes = (Route("/policies", policies), Route("/policies/{name:path}", policy))
