"""What a release tells Prometheus' operator: which pods are read, and which rules are gone by."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
import yaml

from ..chart.rendering import CHART
from ..installation import load
from ..installation.access import Access
from ..installation.needs import Need, needs
from .cluster import Cluster
from .prometheus_operator import POD, SELECTED, OperatorPrometheus, operator_prometheus
from .release import Release, installed

pytestmark = needs(Need.PROMETHEUS_OPERATOR)
ANSWERING = ("orchestrator", "generator", "scorer", "query-builder", "retriever")
"""The services that take part in an answer."""
SERVICES = (*ANSWERING, "evaluator", "gateway")
PATIENCE_S = 180.0
"""Time, in seconds, within which the operator writes settings and Prometheus reloads them."""


@pytest.fixture(scope="module")
def release(cluster: Cluster, namespace: str) -> Iterator[Release]:
    """The lab's release, two generators, that lets in this Prometheus and no other."""
    reported = {"enabled": True, "labels": SELECTED}
    given = {
        "generator": {"replicas": 2},
        "networkPolicy": {"prometheus": [{"podSelector": {"matchLabels": POD}}]},
        "telemetry": {"serviceMonitor": reported, "prometheusRule": reported},
    }
    with installed(Release(cluster, namespace, "lab", given)) as found:
        yield found


@pytest.fixture(scope="module")
def prometheus(release: Release) -> Iterator[OperatorPrometheus]:
    with operator_prometheus(release.cluster, release.namespace) as found:
        yield found


async def comes_to(read: Callable[[], object], expected: object) -> None:
    """Wait until the value read is the expected one."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while await asyncio.to_thread(read) != expected:  # noqa: ASYNC110
                await asyncio.sleep(1)
    except TimeoutError:
        assert read() == expected


async def test_every_pod_of_every_service_is_read(
    release: Release, prometheus: OperatorPrometheus
) -> None:
    pods = {pod["metadata"]["name"]: "up" for each in SERVICES for pod in release.pods(each)}
    assert len(pods) == len(SERVICES) + 1

    def read() -> dict[str, str]:
        found = [each for each in prometheus.targets() if each["labels"]["job"] == "scaar"]
        return {each["labels"]["pod"]: each["health"] for each in found}

    await comes_to(read, pods)


async def test_every_alert_rule_is_loaded_and_healthy(prometheus: OperatorPrometheus) -> None:
    groups = yaml.safe_load((CHART / "files" / "alerts.yml").read_text())["groups"]
    alerts = {rule["alert"]: "ok" for group in groups for rule in group["rules"]}
    await comes_to(lambda: {each["name"]: each["health"] for each in prometheus.rules()}, alerts)


async def test_calls_are_counted_of_each_pod_that_answered_them(
    release: Release, access: Access, prometheus: OperatorPrometheus
) -> None:
    async with load.answers(access) as answers:
        await answers.goes_on(10)
    assert answers.failed == []
    requested = {pod["metadata"]["name"] for each in ANSWERING for pod in release.pods(each)}
    counted = 'sum by (pod) (scaar_rpc_requests_total{job="scaar", code="OK"}) > 0'

    def missing() -> set[str]:
        return requested - {each["metric"]["pod"] for each in prometheus.series(counted)}

    await comes_to(missing, set())
