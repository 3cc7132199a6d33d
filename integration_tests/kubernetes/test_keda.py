"""Scaling by KEDA: workers by their queue, generators by calls in progress."""

from collections.abc import AsyncIterator, Iterator

import pytest

from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from ..installation import load
from ..installation.evaluations import create_evaluation
from ..installation.needs import Need, needs
from ..servers.prometheus.prometheus_server import PrometheusServer
from .cluster import Cluster
from .pod_prometheus import pod_prometheus
from .release import Values, scaled_to
from .workers import Working, is_whole, working

pytestmark = needs(Need.KEDA)
_SOON = {"by": "keda", "pollingSeconds": 2, "cooldownSeconds": 5}
_AT_ONCE = {"scaleDown": {"stabilizationWindowSeconds": 0}}


@pytest.fixture(scope="module")
def prometheus(
    cluster: Cluster, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrometheusServer]:
    with pod_prometheus(cluster, namespace, tmp_path_factory.mktemp("prometheus")) as found:
        yield found


@pytest.fixture(scope="module")
def scaled(cluster: Cluster, namespace: str, prometheus: PrometheusServer) -> Iterator[Working]:
    """A release of which KEDA scales workers, to none, and generators."""
    values: Values = {
        "worker": {"autoscaling": {**_SOON, "minReplicas": 0, "maxReplicas": 2}},
        "generator": {
            "autoscaling": {**_SOON, "maxReplicas": 2, "target": 2, "behavior": _AT_ONCE}
        },
        # A slow model, so that there are calls in progress.
        "labModel": {"args": ["--pace-ms=30"]},
        "telemetry": {"prometheusUrl": f"http://{prometheus.address}"},
    }
    with working(cluster, namespace, values) as found:
        yield found


@pytest.fixture
async def evaluator(scaled: Working) -> AsyncIterator[EvaluatorServiceStub]:
    async with scaled.access().evaluator_channel() as channel:
        yield EvaluatorServiceStub(channel)


def test_every_autoscaler_is_ready(scaled: Working) -> None:
    objects = scaled.release.cluster.objects("scaledobjects", namespace=scaled.release.namespace)
    assert len(objects) == 2
    for each in objects:
        ready = {found["type"]: found for found in each["status"]["conditions"]}["Ready"]
        assert ready["status"] == "True", ready["message"]


async def test_workers_scale_up_for_an_evaluation_and_down_after_it(
    scaled: Working, evaluator: EvaluatorServiceStub
) -> None:
    await scaled_to(scaled.release, "worker", 0)
    evaluation = await create_evaluation(evaluator, scaled.access(), times=60)
    await scaled_to(scaled.release, "worker", 2)
    await is_whole(evaluator, evaluation)
    await scaled_to(scaled.release, "worker", 0)
    assert scaled.messages() == 0


async def test_generators_scale_up_under_load_and_down_after_it_without_failed_calls(
    scaled: Working,
) -> None:
    await scaled_to(scaled.release, "generator", 1)
    async with load.answers(scaled.access(), clients=8) as answers:
        await scaled_to(scaled.release, "generator", 2)
    assert answers.failed == []
    await scaled_to(scaled.release, "generator", 1)
