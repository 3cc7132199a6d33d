"""Number of calls that each pod of a service has answered."""

from functools import partial

from ..installation.access import Access
from ..installation.metrics import read
from .pod_access import PodAccess
from .release import Release

_METRICS_PORT = 9464
_NAMES = {"scorer": "Scorer", "orchestrator": "Orchestrator", "generator": "Generator"}


async def answered_calls(release: Release, to_pods: PodAccess, component: str) -> dict[str, float]:
    """Return the number of successful calls of each ready pod, by name."""
    found: dict[str, float] = {}
    for pod in release.pods(component):
        name = pod["metadata"]["name"]
        url = to_pods.url(name, _METRICS_PORT, "/metrics")
        metrics = await read(Access("", metrics=partial(tuple[str, ...], (url,))))
        service = f"scaar.v1.{_NAMES[component]}Service"
        found[name] = metrics.total("scaar_rpc_requests_total", service=service, code="OK")
    return found
