"""Grids of a service: what is refused, and how a first pass ends without candidates."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationGrid,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
)
from scaar.core.ports import Evaluator
from scaar.core.types import PolicyRequest
from scaar.evaluator.service.evaluator import HostedEvaluator
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.testing.steady_answerer import SteadyAnswerer, varied

REQUEST = EvaluationRequest(
    policies=(PolicyRequest("no_retrieval"), PolicyRequest("flare")),
    indexes=("lab",),
    theta_candidates=3,
)


async def questions(count: int = 20) -> AsyncIterator[EvaluationQuestion]:
    for at in range(count):
        yield EvaluationQuestion(f"q{at}", f"Who is number {at}?", ("Ada",))


def opened(
    tmp_path: Path, answerer: SteadyAnswerer
) -> AbstractAsyncContextManager[HostedEvaluator]:
    return open_evaluator(
        EvaluatorSettings(attempts=1, patience_s=0.0),
        answerer,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
    )


async def evaluated(
    tmp_path: Path, answerer: SteadyAnswerer, request: EvaluationRequest, count: int = 20
) -> EvaluationDescription:
    async with opened(tmp_path, answerer) as evaluator:
        created = await evaluator.create_evaluation(request, questions(count))
        return await ended_of(evaluator, created)


async def ended_of(evaluator: Evaluator, created: EvaluationDescription) -> EvaluationDescription:
    async for progress in evaluator.watch_evaluation(created.id):
        ended = progress.evaluation
    return ended


@pytest.mark.parametrize(
    ("request_", "count", "message"),
    [
        (replace(REQUEST, theta_candidates=1), 20, "theta_candidates: must be 2 to 50, not 1"),
        (replace(REQUEST, theta_candidates=51), 20, "theta_candidates: must be 2 to 50, not 51"),
        (
            replace(REQUEST, grid=EvaluationGrid(theta=(0.5,))),
            20,
            "theta_candidates: cannot be combined with values of theta",
        ),
        # This seed puts the only question into the test split.
        (replace(REQUEST, seed=6), 1, "theta_candidates: has no question to place thresholds on"),
        (
            replace(REQUEST, theta_candidates=50, grid=EvaluationGrid(top_k=(1, 2, 3, 4, 5))),
            20,
            "policies: must result in at most 200 settings, not 251",
        ),
    ],
)
async def test_an_invalid_grid_is_refused_before_any_work(
    request_: EvaluationRequest, count: int, message: str, tmp_path: Path
) -> None:
    answerer = SteadyAnswerer()
    with pytest.raises(InvalidRequest, match=message):
        await evaluated(tmp_path, answerer, request_, count)
    assert not answerer.answers


async def test_an_evaluation_fails_with_the_reason_of_its_first_pass(tmp_path: Path) -> None:
    # No sentence before the answer phrase is judged.
    ended = await evaluated(tmp_path, SteadyAnswerer(), REQUEST)
    assert ended.state is EvaluationState.FAILED
    assert ended.error is not None
    assert "flare: no sentence was judged" in ended.error.message


async def test_a_question_that_fails_in_the_first_pass_fails_the_evaluation(
    tmp_path: Path,
) -> None:
    ended = await evaluated(tmp_path, SteadyAnswerer((("number", 0),)), REQUEST)
    assert ended.state is EvaluationState.FAILED
    assert ended.error is not None
    assert "questions failed in the first pass" in ended.error.message


async def test_a_failed_first_pass_is_continued_with_its_evaluation(tmp_path: Path) -> None:
    answerer = SteadyAnswerer((("number 1", 0),), script=varied)
    async with opened(tmp_path, answerer) as evaluator:
        created = await evaluator.create_evaluation(REQUEST, questions())
        failed = await ended_of(evaluator, created)
        assert failed.error is not None
        assert "questions failed in the first pass" in failed.error.message
        answerer.failing = ()
        again = await ended_of(evaluator, await evaluator.resume_evaluation(created.id))
        assert again.error == failed.error
        answerer.answers.clear()
        resumed = await evaluator.resume_evaluation(created.id, retry_failed=True)
        assert (resumed.error, resumed.ended) == (None, "")
        last = await ended_of(evaluator, resumed)
    assert (last.state, last.done, last.failed) == (EvaluationState.SUCCEEDED, 80, 0)


async def test_policies_without_a_threshold_need_no_first_pass(tmp_path: Path) -> None:
    request = replace(REQUEST, policies=REQUEST.policies[:1])
    ended = await evaluated(tmp_path, SteadyAnswerer(), request)
    assert (ended.state, ended.settings) == (EvaluationState.SUCCEEDED, ("no_retrieval",))
    assert ended.first_pass is None
