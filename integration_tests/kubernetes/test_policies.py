"""Who reaches whom, where the cluster's network enforces the release's policies."""

import json
from collections.abc import Iterator

import pytest

from ..installation.needs import Need, needs
from .client_pod import running_client_pod
from .cluster import Cluster
from .release import RELEASE, Release, full, installed

pytestmark = needs(Need.POLICIES)
CALLS = {
    "orchestrator": 50_051,
    "generator": 50_052,
    "scorer": 50_053,
    "query-builder": 50_054,
    "retriever": 50_055,
    "evaluator": 50_056,
    "gateway": 8090,
    "lab-model": 8080,
}
METRICS = {part: 9464 for part in CALLS if part != "lab-model"}
Reached = set[tuple[str, int]]
# What is not let through is dropped: nobody says no.
_TRY = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor

def reached(tried):
    name, host, port = tried
    try:
        socket.create_connection((host, port), timeout=3).close()
    except OSError:
        return []
    return [(name, port)]

tried = json.loads(sys.argv[1])
with ThreadPoolExecutor(len(tried)) as threads:
    print(json.dumps(sum(threads.map(reached, tried), [])))
"""


@pytest.fixture(scope="module")
def monitoring(cluster: Cluster) -> Iterator[str]:
    """The namespace that Prometheus is taken to be in."""
    with cluster.namespace(f"{cluster.name}-monitoring") as name:
        yield name


@pytest.fixture(scope="module")
def release(cluster: Cluster, namespace: str, monitoring: str) -> Iterator[Release]:
    """The lab's release without configured external callers."""
    prometheus = [
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": monitoring}}}
    ]
    policy = {"clients": [{"podSelector": {}}], "prometheus": prometheus, "modelMetrics": False}
    inside = {"expose": {"enabled": False}}
    values = {
        "networkPolicy": policy,
        **dict.fromkeys(("orchestrator", "evaluator", "gateway"), inside),
    }
    with installed(Release(cluster, namespace, "lab", values)) as found:
        yield found


def calls(*parts: str) -> Reached:
    return {(part, CALLS[part]) for part in parts}


def reached(release: Release, pod: str, namespace: str) -> Reached:
    """What a pod can connect to of the release, and whether to the cluster's API."""
    domain = f"{release.namespace}.svc.cluster.local"
    ports = [*CALLS.items(), *METRICS.items()]
    tried = [(part, f"{full(part)}.{domain}", port) for part, port in ports]
    tried.append(("API server", "kubernetes.default.svc.cluster.local", 443))
    command = ("exec", pod, "--", "python", "-c", _TRY, json.dumps(tried))
    reported = json.loads(release.cluster.kubectl(*command, namespace=namespace))
    return {(name, port) for name, port in reported}


def test_a_question_is_answered(release: Release) -> None:
    assert "Phase:          Succeeded" in release.helm("test", RELEASE, "--timeout", "5m")


def test_a_client_reaches_orchestrator_evaluator_and_gateway_alone(release: Release) -> None:
    with running_client_pod(release.cluster, release.namespace) as pod:
        # It has no policy of its own, and so may go anywhere.
        found = reached(release, pod, release.namespace) - {("API server", 443)}
    assert found == calls("orchestrator", "evaluator", "gateway")


def test_other_clients_reach_nothing_and_prometheus_only_the_metrics(
    cluster: Cluster, release: Release, monitoring: str
) -> None:
    with (
        cluster.namespace(f"{cluster.name}-stranger") as namespace,
        running_client_pod(cluster, namespace) as pod,
    ):
        found = reached(release, pod, namespace)
    assert found - {("API server", 443)} == set()
    with running_client_pod(cluster, monitoring) as pod:
        found = reached(release, pod, monitoring)
    assert found - {("API server", 443)} == set(METRICS.items())


@pytest.mark.parametrize(
    ("part", "needed"),
    [
        ("orchestrator", calls("generator", "scorer", "query-builder", "retriever")),
        ("generator", calls("lab-model")),
        ("scorer", calls()),
        ("query-builder", calls()),
        ("retriever", calls()),
        ("evaluator", calls("orchestrator")),
        ("gateway", calls("orchestrator")),
        ("lab-model", calls()),
    ],
)
def test_a_part_reaches_what_it_calls_and_no_more(
    release: Release, part: str, needed: Reached
) -> None:
    (pod,) = release.pods(part)
    found = reached(release, pod["metadata"]["name"], release.namespace)
    # Whether a pod reaches itself by its Service is the network's own affair.
    assert {each for each in found if each[0] != part} == needed
