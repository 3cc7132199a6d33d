"""Questions asked by a pod: by names of headless Services, whose pods clients find themselves."""

import asyncio

from ..installation.client import PATIENCE_S
from ..installation.load import QUESTIONS
from .call_counts import answered_calls
from .client_pod import client_pod
from .pod_access import PodAccess
from .release import Release

TIMES = 4
PORTS = {"orchestrator": 9464, "generator": 9464, "scorer": 9464, "query-builder": 9464}
PORTS |= {"retriever": 9464, "evaluator": 9464, "gateway": 9464, "lab-model": 8080}


async def test_the_calls_of_a_pod_are_balanced_over_the_replicas(
    release: Release, to_pods: PodAccess
) -> None:
    parts = ("orchestrator", "scorer")
    for each in parts:
        release.scale(each, 2)
    before = {each: await answered_calls(release, to_pods, each) for each in parts}

    async def counted(part: str) -> list[float]:
        after = await answered_calls(release, to_pods, part)
        return [after[name] - was for name, was in before[part].items()]

    with client_pod(release) as asker:
        answers = asker.answers(QUESTIONS * TIMES, release.target("orchestrator", 50_051))
    assert len(answers) == len(QUESTIONS) * TIMES
    assert all(answers)
    # A call is counted when it has ended, which may be after its caller has heard all of it.
    async with asyncio.timeout(PATIENCE_S):
        while sum(await counted("orchestrator")) < len(answers):  # noqa: ASYNC110
            await asyncio.sleep(0.5)
    for each in parts:
        calls = await counted(each)
        # A connection that ends, and is made again, leaves the other one alone for a moment.
        assert min(calls) >= sum(calls) / 5
    for each in parts:
        release.scale(each, 1)


async def test_the_tests_of_an_installation_pass_in_a_pod(release: Release) -> None:
    urls = [
        f"http://{pod['status']['podIP']}:{port}/metrics"
        for part, port in PORTS.items()
        for pod in release.pods(part)
    ]
    variables = {
        "SCAAR_TARGET": release.target("orchestrator", 50_051),
        "SCAAR_EVALUATOR_TARGET": release.target("evaluator", 50_056),
        "SCAAR_GATEWAY_URL": release.target("gateway", 8090).replace("dns:///", "http://"),
        "SCAAR_METRICS_URLS": " ".join(urls),
    }
    with client_pod(release) as asker:
        said = await asyncio.to_thread(asker.tests, variables)
    assert " passed" in said
