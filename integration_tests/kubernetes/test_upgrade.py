"""Concurrent upgrades of every part, under load from outside the cluster."""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Thread

import pytest

from ..installation import load
from ..installation.access import Access
from .cluster import Cluster
from .release import Release, Values, installed
from .shared_folder import shared_folder

PARTS = (
    *("orchestrator", "generator", "scorer", "queryBuilder", "retriever"),
    *("evaluator", "gateway"),
)
MODES = {"shared": "ReadWriteMany", "own": "ReadWriteOnce"}
FOUND_S = 3.0
"""Time in which callers find a part that is ready again, with a margin for a busy machine."""


def changed(mark: str) -> Values:
    """A value that changes the pods of every part; other images where the environment names some.

    ``SCAAR_NEXT_VERSION`` is the tag of the images that the release is upgraded to.
    """
    values: Values = {part: {"podAnnotations": {"changed": mark}} for part in PARTS}
    if tag := os.environ.get("SCAAR_NEXT_VERSION"):
        values["image"] = {"tag": tag}
    return values


@contextmanager
def upgradable(cluster: Cluster, replicas: int, volume: str) -> Iterator[Release]:
    """A release of the lab with default settings, its index on a volume."""
    with ExitStack() as stack:
        name = f"{cluster.name}-{replicas}-{volume}"
        namespace = stack.enter_context(cluster.namespace(name))
        stack.enter_context(shared_folder(cluster, namespace, "indexes"))
        values: Values = {part: {"replicas": replicas} for part in PARTS if part != "evaluator"}
        values["retriever"] |= {
            "nodeSelector": {"kubernetes.io/hostname": cluster.hostname},
            "persistence": {"existingClaim": "indexes", "accessModes": [MODES[volume]]},
        }
        # Answers take about a second, so that some are always in progress.
        values["labModel"] = {"args": ["--pace-ms=30"]}
        release = Release(cluster, namespace, "lab", values)
        yield stack.enter_context(installed(release))


async def upgraded(release: Release) -> load.PacedLoad:
    """The calls at half of the undisturbed rate during an upgrade and its rollback."""
    access = Access(f"ipv4:{release.node_port('orchestrator')}")
    rate = await load.undisturbed_rate(access, seconds=8)
    async with load.paced(access, rate / 2) as answers:
        await asyncio.to_thread(release.upgrade, changed("1"))
        await asyncio.to_thread(settled, release)
        print(f"upgraded: {answers}")
        await asyncio.to_thread(release.rollback)
        await asyncio.to_thread(settled, release)
    print(f"at {rate / 2:.1f} calls/s: {answers}")
    return answers


def settled(release: Release) -> None:
    """Return when every part is as it was asked for, and what it was before is gone."""
    for part in PARTS:
        release.rollout(part.replace("queryB", "query-b"))


@pytest.mark.parametrize("replicas", [1, 2])
async def test_no_call_fails_while_every_part_is_upgraded_and_rolled_back(
    cluster: Cluster, replicas: int
) -> None:
    with upgradable(cluster, replicas, "shared") as release:
        answers = await upgraded(release)
    assert answers.failed == [], str(answers)
    assert answers.answered


async def test_calls_fail_only_while_the_only_retriever_is_down(
    cluster: Cluster,
) -> None:
    with upgradable(cluster, 1, "own") as release, absences(release, "retriever") as away:
        answers = await upgraded(release)
    assert (len(away.left), len(away.back)) == (2, 2)
    assert [each for each in answers.failed if not away.explain(each)] == [], str(answers)
    assert answers.answered


@dataclass
class Absences:
    """Times without a ready pod of a part, on the monotonic clock: from ``left`` to ``back``."""

    left: list[float] = field(default_factory=list)
    back: list[float] = field(default_factory=list)

    def explain(self, call: load.FailedCall) -> bool:
        """Return whether a failed call was in progress during an absence."""
        return any(
            left < call.ended and call.began < back + FOUND_S
            for left, back in zip(self.left, self.back, strict=True)
        )

    def follow(self, lines: Iterable[str]) -> None:
        """Take lines of a pod's name, the time of its deletion and whether it is ready."""
        ready: dict[str, bool] = {}
        for line in lines:
            name, deleted, status = line.rstrip("\n").split("|")
            before = any(ready.values())
            ready[name] = status == "True" and not deleted
            if before != any(ready.values()) and (self.left or before):
                (self.left if before else self.back).append(time.monotonic())


_POD = (
    "{.metadata.name}|{.metadata.deletionTimestamp}|{.status.conditions[?(@.type=='Ready')].status}"
)


@contextmanager
def absences(release: Release, component: str) -> Iterator[Absences]:
    """Record the absences of a part during the block."""
    found = Absences()
    selector = f"--selector=app.kubernetes.io/component={component}"
    command = ("get", "pods", selector, "--watch", f"--output=jsonpath={_POD}{{'\\n'}}")
    with subprocess.Popen(
        release.cluster.command(*command, namespace=release.namespace),
        stdout=subprocess.PIPE,
        text=True,
    ) as watch:
        assert watch.stdout
        follower = Thread(target=found.follow, args=(watch.stdout,))
        follower.start()
        try:
            yield found
        finally:
            watch.terminate()
            follower.join()
