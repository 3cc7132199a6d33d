"""A release whose orchestrators build the queries in their own processes."""

from collections.abc import Iterator

import pytest

from ..installation.access import Access
from ..installation.client import answer, request
from .cluster import Cluster
from .release import Release, installed


@pytest.fixture(scope="module")
def release(cluster: Cluster, namespace: str) -> Iterator[Release]:
    """The lab's release without the part of its own."""
    values = {"queryBuilder": {"enabled": False}}
    with installed(Release(cluster, namespace, "lab", values)) as found:
        yield found


async def test_without_a_query_builder_service_the_orchestrator_builds_queries(
    release: Release, access: Access
) -> None:
    assert release.pods("query-builder") == []
    async with access.channel() as channel:
        answered = (await answer(channel, request(access))).answer
    assert answered.usage.retrievals
    assert answered.answer
