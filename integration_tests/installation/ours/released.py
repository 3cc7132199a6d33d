"""An installation on Kubernetes: a release of the chart, in a namespace that is restricted."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ...kubernetes.cluster import Cluster
from ...kubernetes.release import Release, installed
from ...kubernetes.ways import Ways, ways
from ..access import Access
from .installation import BACK_ENDS, SERVICES
from .released_values import replicated, secured
from .replicated import Asked
from .security import Security

_PORTS = dict(zip(("orchestrator", *BACK_ENDS, "evaluator"), range(50_051, 50_057), strict=True))
_METRICS_PORT, _TGI_PORT = 9464, 8080


class Released:
    """A release as the tests ask and disturb it."""

    def __init__(self, release: Release, to_pods: Ways, security: Security | None) -> None:
        self._release, self._ways, self._security = release, to_pods, security

    @property
    def access(self) -> Access:
        orchestrator, evaluator = map(self._release.node_port, ("orchestrator", "evaluator"))
        targets = f"ipv4:{orchestrator}", f"ipv4:{evaluator}"
        if (known := self._security) is None:
            return Access(*targets, metrics=self._metrics_urls)
        return Access(*targets, known.ca, known.cert, known.key, known.token, self._metrics_urls)

    def replicas(self, service: str) -> tuple[str, ...]:
        names = (each["metadata"]["name"] for each in self._release.pods(service))
        return tuple(self._ways.target(name, _PORTS[service]) for name in names)

    def replace(self, service: str) -> None:
        self._release.restart(service)

    def kill(self, service: str) -> None:
        self._release.kill(service)

    def _metrics_urls(self) -> tuple[str, ...]:
        ports = {**dict.fromkeys(SERVICES, _METRICS_PORT), "lab-model": _TGI_PORT}
        return tuple(
            self._ways.url(pod["metadata"]["name"], port, "/metrics")
            for service, port in ports.items()
            for pod in self._release.pods(service)
        )


@contextmanager
def released(cluster: Cluster, asked: Asked) -> Iterator[Released]:
    """The installation until the block ends; then nothing of it is left."""
    known = asked.security
    with ExitStack() as stack:
        name = f"{cluster.name}-{'secured' if known else 'plain'}"
        namespace = stack.enter_context(cluster.namespace(name))
        if known:
            preset, values = "", secured(cluster, namespace, known)
        else:
            preset, values = "lab", stack.enter_context(replicated(cluster, namespace, asked))
        release = stack.enter_context(installed(Release(cluster, namespace, preset, values)))
        yield Released(release, stack.enter_context(ways(cluster, namespace)), known)


def hosts(cluster: Cluster) -> tuple[str, str]:
    """What a certificate of the secured installation is for, besides loopback."""
    return cluster.address, f"*.{cluster.name}-secured.svc.cluster.local"
