"""More pods and fewer, and pods that are replaced or die, while questions are asked."""

import asyncio

import grpc
import pytest

from ..installation import load
from ..installation.access import Access
from ..installation.client import PATIENCE_S
from .call_counts import answered_calls
from .pod_access import PodAccess
from .release import Release

# A retriever's index is in its pod here, and goes with it.
PARTS = ("orchestrator", "generator", "scorer", "query-builder")


@pytest.mark.parametrize("component", ["orchestrator", "scorer"])
async def test_scaled_from_one_to_three_and_back_every_pod_answers_and_no_call_fails(
    release: Release, to_pods: PodAccess, access: Access, component: str
) -> None:
    async with load.answers(access, clients=6) as answers:
        await asyncio.to_thread(release.scale, component, 3)
        async with asyncio.timeout(2 * PATIENCE_S):
            while not all((found := await answered_calls(release, to_pods, component)).values()):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        await asyncio.to_thread(release.scale, component, 1)
    assert len(found) == 3
    assert answers.failed == []


@pytest.mark.parametrize("component", PARTS)
async def test_no_call_fails_while_the_only_pod_of_a_service_is_replaced(
    release: Release, access: Access, component: str
) -> None:
    (before,) = release.pods(component)
    async with load.answers(access) as answers:
        await asyncio.to_thread(release.restart, component)
    (after,) = release.pods(component)
    assert before["metadata"]["name"] != after["metadata"]["name"]
    assert answers.failed == []


async def test_calls_on_a_killed_pod_may_be_retried_and_no_others_fail(
    release: Release, access: Access
) -> None:
    clients = 4
    await asyncio.to_thread(release.scale, "orchestrator", 2)
    async with load.answers(access, clients=clients) as answers:
        await asyncio.to_thread(release.kill, "orchestrator")
    await asyncio.to_thread(release.scale, "orchestrator", 1)
    assert {each.code() for each in answers.failed} <= {grpc.StatusCode.UNAVAILABLE}
    assert len(answers.failed) <= clients
    assert answers.recovered == len(answers.failed)
