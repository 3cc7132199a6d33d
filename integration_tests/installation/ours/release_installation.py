"""Installation on Kubernetes: a release of the chart in a restricted namespace."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ...kubernetes.cluster import Cluster
from ...kubernetes.pod_access import PodAccess, pod_access
from ...kubernetes.release import Release, installed
from ..access import Access
from .installation import BACK_ENDS, GATEWAY, PARTS
from .release_values import replicated_values, secured_values
from .replicated_installation import InstallationOptions
from .security import Security

_PORTS = dict(zip(("orchestrator", *BACK_ENDS, "evaluator"), range(50_051, 50_057), strict=True))
_PORTS[GATEWAY] = 8090
_METRICS_PORT, _TGI_PORT = 9464, 8080


class ReleaseInstallation:
    """A release of the chart as an installation under test."""

    def __init__(self, release: Release, to_pods: PodAccess, security: Security | None) -> None:
        self._release, self._pod_access, self._security = release, to_pods, security

    @property
    def access(self) -> Access:
        orchestrator, evaluator = map(self._release.node_port, ("orchestrator", "evaluator"))
        targets = f"ipv4:{orchestrator}", f"ipv4:{evaluator}"
        address = self._release.node_port(GATEWAY)
        if (known := self._security) is None:
            return Access(*targets, metrics=self._metrics_urls, gateways=(f"http://{address}",))
        shown = (known.ca, known.cert, known.key, known.token)
        return Access(*targets, *shown, self._metrics_urls, gateways=(f"https://{address}",))

    def replicas(self, service: str) -> tuple[str, ...]:
        names = (each["metadata"]["name"] for each in self._release.pods(service))
        return tuple(self._pod_access.target(name, _PORTS[service]) for name in names)

    def replace(self, service: str) -> None:
        self._release.restart(service)

    def kill(self, service: str) -> None:
        self._release.kill(service)

    def _metrics_urls(self) -> tuple[str, ...]:
        ports = {**dict.fromkeys(PARTS, _METRICS_PORT), "lab-model": _TGI_PORT}
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
        if known:
            preset, values = "", secured_values(cluster, namespace, known)
        else:
            preset, values = (
                "lab",
                stack.enter_context(replicated_values(cluster, namespace, requested)),
            )
        release = stack.enter_context(installed(Release(cluster, namespace, preset, values)))
        yield ReleaseInstallation(
            release, stack.enter_context(pod_access(cluster, namespace)), known
        )


def hosts(cluster: Cluster) -> tuple[str, str]:
    """Return the host names of the secured installation's certificate, besides loopback."""
    return cluster.address, f"*.{cluster.name}-secured.svc.cluster.local"
