"""A release that is installed, tested, changed and brought back."""

import asyncio
import json
from pathlib import Path

import pytest

from scaar.v1.orchestrator_pb2 import AnswerRequest
from scaar.v1.policy_pb2 import Policy, ScaarPolicy

from ..go.clients_page import run_go_example
from ..installation import load
from ..installation.access import Access
from ..installation.client import events
from ..installation.needs import Need, needs
from .cluster import Cluster, Failed
from .release import RELEASE, Release, full

CHANGED = {"scorer": {"settings": {"max_connection_age_s": 9}, "podAnnotations": {"changed": "1"}}}
NOWHERE = "scaar.invalid/scorer:none"
"""An image that no node has, and no registry."""


def age(release: Release) -> str:
    """The setting that is changed, as the scorer's pods have it."""
    (pod,) = release.pods("scorer")
    environment = {each["name"]: each["value"] for each in pod["spec"]["containers"][0]["env"]}
    return str(environment["SCAAR_SCORER_MAX_CONNECTION_AGE_S"])


def newest(release: Release) -> dict[str, object]:
    """The newest of its revisions."""
    reported: list[dict[str, object]] = json.loads(
        release.helm("history", RELEASE, "--output", "json")
    )
    return reported[-1]


def test_the_index_is_built_by_a_job_that_completes(release: Release) -> None:
    (job,) = release.cluster.objects("jobs", namespace=release.namespace)
    assert job["metadata"]["name"].startswith(full("index-load"))
    assert job["status"]["succeeded"] == 1


def test_pods_are_of_a_namespace_that_enforces_restricted_pod_security(
    cluster: Cluster, release: Release
) -> None:
    labels = cluster.one("namespace", release.namespace)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert all(release.pods(part) for part in ("orchestrator", "evaluator", "lab-model"))


def test_helm_test_asks_a_question(release: Release) -> None:
    said = release.helm("test", RELEASE, "--timeout", "5m")
    assert "Phase:          Succeeded" in said


@needs(Need.GO)
async def test_the_go_client_of_the_page_gets_the_same_answer(
    release: Release, access: Access, tmp_path: Path
) -> None:
    reported = await run_go_example(tmp_path, f"dns:///{release.node_port('orchestrator')}")
    policy = Policy(scaar=ScaarPolicy(theta=0.25))
    request = AnswerRequest(question="Who directed the film The Haunted Fountain?", policy=policy)
    async with access.channel() as channel:
        heard = [each.event for each in await events(channel, request)]
    found = [found.title for each in heard for found in each.passages_retrieved.passages]
    answer = heard[-1].finished.answer
    assert answer.answer
    assert reported == [*found, f"{answer.answer} {answer.usage.retrievals}"]


async def test_no_call_fails_while_a_value_is_changed_and_restored(
    release: Release, access: Access
) -> None:
    assert age(release) == "10"
    async with load.answers(access) as answers:
        await asyncio.to_thread(release.upgrade, CHANGED)
        await asyncio.to_thread(release.rollout, "scorer")
        changed = age(release)
        await asyncio.to_thread(release.rollback)
        await asyncio.to_thread(release.rollout, "scorer")
    assert (changed, age(release), newest(release)["revision"]) == ("9", "10", 3)
    assert answers.failed == []


async def test_an_upgrade_that_fails_leaves_what_serves_and_a_rollback_mends_it(
    release: Release, access: Access
) -> None:
    (before,) = release.pods("scorer")
    async with load.answers(access) as answers:
        with pytest.raises(Failed, match="UPGRADE FAILED"):
            await asyncio.to_thread(release.upgrade, {"scorer": {"image": NOWHERE}}, timeout="45s")
        failed = newest(release)["status"]
        await asyncio.to_thread(release.rollback)
        await asyncio.to_thread(release.rollout, "scorer")
    (after,) = release.pods("scorer")
    assert (failed, newest(release)["status"]) == ("failed", "deployed")
    assert before["metadata"]["name"] == after["metadata"]["name"]
    assert answers.failed == []
