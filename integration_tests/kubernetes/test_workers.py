"""Evaluations that workers of a release ask: pods are killed and replaced, and nothing is lost."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from scaar.v1.evaluator_pb2 import Evaluation, WatchEvaluationRequest
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from ..installation.client import PATIENCE_S
from ..installation.evaluations import create_evaluation
from .cluster import Cluster
from .release import Release
from .workers import Working, is_whole, working

TIMES = 60
"""How often each question is asked: long enough for a pod to be killed meanwhile."""


@pytest.fixture(scope="module")
def workers(cluster: Cluster, namespace: str) -> Iterator[Working]:
    """Two of them, of which each asks by two processes."""
    with working(cluster, namespace, {"worker": {"replicas": 2}}) as found:
        yield found


@pytest.fixture
async def evaluator(workers: Working) -> AsyncIterator[EvaluatorServiceStub]:
    async with workers.access().evaluator_channel() as channel:
        yield EvaluatorServiceStub(channel)


async def started(evaluator: EvaluatorServiceStub, workers: Working) -> Evaluation:
    """An evaluation of which some is done and most is not."""
    evaluation = await create_evaluation(evaluator, workers.access(), times=TIMES)
    request = WatchEvaluationRequest(evaluation_id=evaluation.id)
    async for each in evaluator.WatchEvaluation(request, timeout=PATIENCE_S):
        evaluation = each.evaluation
        if evaluation.done:
            break
    assert evaluation.done < evaluation.total / 2
    return evaluation


def test_the_tables_are_made_before_the_pods_by_a_job_that_goes_when_it_is_done(
    workers: Working,
) -> None:
    assert workers.database.execute("SELECT count(*) FROM alembic_version") == "1"
    jobs = workers.release.cluster.objects("jobs", namespace=workers.release.namespace)
    assert not [each for each in jobs if "migrations" in each["metadata"]["name"]]


async def test_workers_run_an_evaluation_to_its_end(
    workers: Working, evaluator: EvaluatorServiceStub
) -> None:
    await is_whole(evaluator, await started(evaluator, workers))


@pytest.mark.parametrize(
    ("disturb", "part"),
    [(Release.kill, "worker"), (Release.restart, "worker"), (Release.restart, "evaluator")],
    ids=["worker-killed", "workers-replaced", "evaluator-replaced"],
)
async def test_no_question_is_lost_or_answered_twice(
    workers: Working,
    evaluator: EvaluatorServiceStub,
    disturb: Callable[[Release, str], None],
    part: str,
) -> None:
    evaluation = await started(evaluator, workers)
    await asyncio.to_thread(disturb, workers.release, part)
    await is_whole(evaluator, evaluation)
