"""CPU time of answers by part of a release, with one and with more pods; printed, not asserted.

    KUBECONFIG=FILE python -m integration_tests.kubernetes.measure [SECONDS] [ROUNDS]

The lab's questions under scaar, asked of the lab's release by eight clients, each by a connection
of its own: with one pod per part, with two orchestrators, with two generators, alternately.
"""

import asyncio
import os
import statistics
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from ..installation import load
from ..installation.access import Access
from ..installation.client import events, request
from .cluster import Cluster
from .release import Release, Values, installed

CLIENTS = 8
SHAPES = {
    "one pod each": {},
    "2 orchestrators": {"orchestrator": 2},
    "2 generators": {"generator": 2},
}
SCALED = ("orchestrator", "generator")
_CPU, _MEMORY = "container_cpu_usage_seconds_total", "container_memory_working_set_bytes"
_SEEN_S = 60


@dataclass(frozen=True, slots=True)
class Taken:
    """What a part's containers took so far, all its pods together."""

    cpu_s: float
    memory: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A time of steady load."""

    answers_a_second: float
    cpu_ms: dict[str, float]
    """An answer, by part."""
    memory: dict[str, float]


async def taken(release: Release) -> dict[str, Taken]:
    """By part, as the kubelet counts it: from now, since it looks every few seconds only."""
    path = f"/api/v1/nodes/{release.cluster.node}/proxy/metrics/resource"
    after = time.time()
    async with asyncio.timeout(_SEEN_S):
        while True:
            reported = await asyncio.to_thread(release.cluster.kubectl, "get", "--raw", path)
            found: dict[str, dict[str, float]] = {_CPU: {}, _MEMORY: {}}
            seen = []
            for family in text_string_to_metric_families(reported):
                for each in family.samples:
                    if each.labels.get("namespace") == release.namespace and each.name in found:
                        part, totals = each.labels["container"], found[each.name]
                        totals[part] = totals.get(part, 0.0) + each.value
                        seen.append(float(each.timestamp or 0))
            if seen and min(seen) > after:
                return {part: Taken(cpu, found[_MEMORY][part]) for part, cpu in found[_CPU].items()}
            await asyncio.sleep(1)


async def measured(release: Release, access: Access, seconds: float) -> Measured:
    """Answers for so long."""
    async with AsyncExitStack() as stack:
        channels = [await stack.enter_async_context(access.channel()) for _ in range(CLIENTS)]

        async def ask(number: int) -> int:
            requested = request(access)
            requested.question = load.QUESTIONS[number % len(load.QUESTIONS)]
            *_, last = await events(channels[number], requested)
            return last.event.finished.answer.usage.retrievals

        async with load.steady(ask, clients=CLIENTS) as warm:
            await warm.goes_on(4 * CLIENTS)
        before = await taken(release)
        began = time.perf_counter()
        async with load.steady(ask, clients=CLIENTS) as requested:
            await asyncio.sleep(seconds)
        took_s = time.perf_counter() - began
        after = await taken(release)
    if requested.failed:
        raise SystemExit(
            f"{len(requested.failed)} calls failed, the first by {requested.failed[0]}"
        )
    cpu = {part: after[part].cpu_s - was.cpu_s for part, was in before.items() if part in after}
    return Measured(
        requested.answered / took_s,
        {part: 1000 * each / requested.answered for part, each in cpu.items()},
        {part: each.memory for part, each in after.items()},
    )


def measure(seconds: float, rounds: int) -> None:
    """Prints a column a shape, the medians of the rounds."""
    cluster = Cluster()
    soon = {"settings": {"max_connection_age_s": 5}}
    values: Values = dict.fromkeys(SCALED, soon)
    found: dict[str, list[Measured]] = {shape: [] for shape in SHAPES}
    with (
        cluster.namespace(f"{cluster.name}-measured") as namespace,
        installed(Release(cluster, namespace, "lab", values)) as release,
    ):
        access = Access(f"ipv4:{release.node_port('orchestrator')}")
        for _ in range(rounds):
            for shape, replicas in SHAPES.items():
                for part in SCALED:
                    release.scale(part, replicas.get(part, 1))
                found[shape].append(asyncio.run(measured(release, access, seconds)))
    print(f"{CLIENTS} clients, {rounds} times {seconds:.0f} s, {os.cpu_count()} cores\n")
    print("| | " + " | ".join(SHAPES) + " |\n| --- |" + " --- |" * len(SHAPES))
    rates = [[each.answers_a_second for each in found[shape]] for shape in SHAPES]
    print("| answers/s |" + "".join(f" {statistics.median(each):.1f} |" for each in rates))
    for part in found["one pod each"][0].cpu_ms:
        cells = [_cell(found[shape], part) for shape in SHAPES]
        print(f"| `{part}` | " + " | ".join(cells) + " |")


def _cell(rounds: list[Measured], part: str) -> str:
    cpu = statistics.median(each.cpu_ms[part] for each in rounds)
    memory = max(each.memory[part] for each in rounds)
    return f"{cpu:.1f} ms, {memory / 1e6:.0f} MB"


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    measure(*(*given, *(40, 2)[len(given) :]))
