"""The lab's release on the cluster that ``KUBECONFIG`` names, as ``values-lab.yaml`` has it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..installation.access import Access
from ..installation.needs import Need, deselect, lacking, report_deselected
from .cluster import Cluster, serves
from .pod_access import PodAccess, pod_access
from .release import Release, Values, installed

_HERE = Path(__file__).parent
_APIS = {
    Need.POD_METRICS: "metrics.k8s.io/v1beta1/nodes",
    Need.CERT_MANAGER: "cert-manager.io/v1",
    Need.KEDA: "keda.sh/v1alpha1",
    Need.PROMETHEUS_OPERATOR: "monitoring.coreos.com/v1",
}


def pytest_configure(config: pytest.Config) -> None:
    """Require KUBECONFIG, so that no other cluster is used by accident."""
    config.addinivalue_line("markers", "needs(*needs): deselected, and counted, without them")
    if not os.environ.get("KUBECONFIG"):
        raise pytest.UsageError("these tests need KUBECONFIG, of a cluster")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect and count the tests whose requirements are not met."""
    here = [item for item in items if _HERE in item.path.parents]
    also = {each: bool(here) and serves(api) for each, api in _APIS.items()}
    also[Need.POLICIES] = os.environ.get("SCAAR_NETWORK_POLICIES") == "enforced"
    deselect(config, items, {item: lacking(item, None, also) for item in here})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report how many tests were deselected and what they require."""
    report_deselected(terminalreporter, config)


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The cluster that there is."""
    return Cluster()


@pytest.fixture(scope="module")
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace that enforces the restricted Pod Security Standard."""
    with cluster.namespace(f"{cluster.name}-lab") as name:
        yield name


@pytest.fixture(scope="module")
def release(cluster: Cluster, namespace: str) -> Iterator[Release]:
    """The lab's release, one replica of every service, reached at a port of the nodes."""
    values: Values = {
        # Clients outside reach one pod per connection: new pods get calls when connections end.
        "orchestrator": {"settings": {"max_connection_age_s": 5}},
        # A model that takes its time, so that a call is always in progress.
        "labModel": {"args": ["--pace-ms=30"]},
    }
    with installed(Release(cluster, namespace, "lab", values)) as found:
        yield found


@pytest.fixture(scope="module")
def to_pods(release: Release) -> Iterator[PodAccess]:
    """Access to its single pods."""
    with pod_access(release.cluster, release.namespace) as found:
        yield found


@pytest.fixture(scope="module")
def access(release: Release) -> Access:
    """Access to its orchestrators from outside the cluster."""
    return Access(f"ipv4:{release.node_port('orchestrator')}")
