"""Installation on Kubernetes: a release of the chart in a restricted namespace."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ...kubernetes.cluster import Cluster
from ...kubernetes.pod_access import PodAccess, pod_access
from ...kubernetes.release import Release, installed
from ..access import Access
from .installation import BACK_ENDS, CONSOLE, GATEWAY, PARTS, RECORDS, WEB
from .release_values import replicated_values, secured_values
from .replicated_installation import InstallationOptions
from .security import Security

_PORTS = dict(zip(("orchestrator", *BACK_ENDS, "evaluator"), range(50_051, 50_057), strict=True))
_PORTS |= {RECORDS: 50_057, GATEWAY: 8090, CONSOLE: 8091}
_METRICS_PORT, _TGI_PORT = 9464, 8080


class ReleaseInstallation:
    """A release of the chart as an installation under test."""

    def __init__(self, release: Release, to_pods: PodAccess, security: Security | None) -> None:
        self._release, self._pod_access, self._security = release, to_pods, security

    @property
    def access(self) -> Access:
        known = self._security
        orchestrator, evaluator, records = (
            f"ipv4:{self._release.node_port(each)}"
            for each in ("orchestrator", "evaluator", RECORDS)
        )
        scheme = "https" if known else "http"
        gateways, consoles = ((f"{scheme}://{self._release.node_port(each)}",) for each in WEB)
        access = Access(
            *(orchestrator, evaluator),
            metrics=self._metrics_urls,
            gateways=gateways,
            consoles=consoles,
            records_target=records,
        )
        if known is None:
            return access
        return replace(access, ca=known.ca, cert=known.cert, key=known.key, token=known.token)

    def replicas(self, service: str) -> tuple[str, ...]:
        names = (each["metadata"]["name"] for each in self._release.pods(service))
        return tuple(self._pod_access.target(name, _PORTS[service]) for name in names)

    def replace(self, service: str) -> None:
        self._release.restart(service)

    def kill(self, service: str) -> None:
        self._release.kill(service)

    def _metrics_urls(self) -> tuple[str, ...]:
        served = (*PARTS, RECORDS, CONSOLE)
        ports = {**dict.fromkeys(served, _METRICS_PORT), "lab-model": _TGI_PORT}
        return tuple(
            self._pod_access.url(pod["metadata"]["name"], port, "/metrics")
            for service, port in ports.items()
            for pod in self._release.pods(service)
        )


@contextmanager
def release_installation(
    cluster: Cluster, requested: InstallationOptions
) -> Iterator[ReleaseInstallation]:
    """Run the installation for the duration of the block, and remove all of it."""
    known = requested.security
    with ExitStack() as stack:
        name = f"{cluster.name}-{'secured' if known else 'plain'}"
        namespace = stack.enter_context(cluster.namespace(name))
        values = stack.enter_context(
            secured_values(cluster, namespace, known)
            if known
            else replicated_values(cluster, namespace, requested)
        )
        preset = "" if known else "lab"
        release = stack.enter_context(installed(Release(cluster, namespace, preset, values)))
        yield ReleaseInstallation(
            release, stack.enter_context(pod_access(cluster, namespace)), known
        )


def hosts(cluster: Cluster) -> tuple[str, str]:
    """Return the host names of the secured installation's certificate, besides loopback."""
    return cluster.address, f"*.{cluster.name}-secured.svc.cluster.local"
