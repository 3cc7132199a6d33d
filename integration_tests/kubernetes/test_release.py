"""A release that is installed, tested, changed and brought back."""

import asyncio
import json

from ..installation import load
from ..installation.access import Access
from .cluster import Cluster
from .release import RELEASE, Release, full

CHANGED = {"scorer": {"settings": {"max_connection_age_s": 4}, "podAnnotations": {"changed": "1"}}}


def age(release: Release) -> str:
    """The setting that is changed, as the scorer's pods have it."""
    (pod,) = release.pods("scorer")
    environment = {each["name"]: each["value"] for each in pod["spec"]["containers"][0]["env"]}
    return str(environment["SCAAR_SCORER_MAX_CONNECTION_AGE_S"])


def revision(release: Release) -> int:
    """Which of its revisions is the newest."""
    return int(json.loads(release.helm("history", RELEASE, "--output", "json"))[-1]["revision"])


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


async def test_no_call_fails_while_a_value_is_changed_and_brought_back(
    release: Release, access: Access
) -> None:
    assert age(release) == "5"
    async with load.answers(access) as answers:
        await asyncio.to_thread(release.upgrade, CHANGED)
        await asyncio.to_thread(release.rollout, "scorer")
        changed = age(release)
        await asyncio.to_thread(release.rollback)
        await asyncio.to_thread(release.rollout, "scorer")
    assert (changed, age(release), revision(release)) == ("4", "5", 3)
    assert answers.failed == []
