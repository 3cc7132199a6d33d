"""Pods that the cluster itself adds, and takes away, by what they take."""

from collections.abc import Iterator

import pytest

from ..installation import load
from ..installation.access import Access
from ..installation.needs import Need, needs
from .cluster import Cluster
from .release import Release, installed, scaled_to

pytestmark = needs(Need.POD_METRICS)


@pytest.fixture(scope="module")
def release(cluster: Cluster, namespace: str) -> Iterator[Release]:
    """The lab's release, its orchestrators scaled by what little they take of a core."""
    soon = {"scaleDown": {"stabilizationWindowSeconds": 0}}
    scaling = {"by": "hpa", "maxReplicas": 2, "cpuPercent": 60, "behavior": soon}
    requests = {"requests": {"cpu": "50m"}}
    values = {"orchestrator": {"autoscaling": scaling, "resources": requests}}
    with installed(Release(cluster, namespace, "lab", values)) as found:
        yield found


async def test_orchestrators_scale_up_under_load_and_down_after_it_without_failed_calls(
    release: Release, access: Access
) -> None:
    await scaled_to(release, "orchestrator", 1)
    async with load.answers(access, clients=6) as answers:
        await scaled_to(release, "orchestrator", 2)
    assert answers.failed == []
    await scaled_to(release, "orchestrator", 1)
