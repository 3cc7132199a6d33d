"""Which answerers an evaluation with cached generations has."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import (
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    ReportFormat,
)
from scaar.core.types import PolicyRequest
from scaar.evaluator.execution.scorers import Answerers
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.testing.steady_answerer import SteadyAnswerer


def request(*, cached: bool) -> EvaluationRequest:
    return EvaluationRequest((PolicyRequest("no_retrieval"),), cache_generations=cached)


async def questions() -> AsyncIterator[EvaluationQuestion]:
    for at in range(4):
        yield EvaluationQuestion(f"q{at}", f"Who is number {at}?", ("Ada",))


async def test_only_evaluations_that_request_it_share_generations(tmp_path: Path) -> None:
    own, cached = SteadyAnswerer(), SteadyAnswerer()
    opened = open_evaluator(
        EvaluatorSettings(),
        own,
        cached=Answerers(cached),
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
    )
    async with opened as evaluator:
        for used, unused in ((own, cached), (cached, own)):
            before = dict(unused.answers)
            created = await evaluator.create_evaluation(request(cached=used is cached), questions())
            async for progress in evaluator.watch_evaluation(created.id):
                ended = progress.evaluation
            assert ended.state is EvaluationState.SUCCEEDED
            assert unused.answers == before
            assert len(used.answers) == 4
            report = await evaluator.report(created.id, ReportFormat.MARKDOWN)
            assert ("Generations that settings have in common" in report) is (used is cached)


@pytest.mark.parametrize("executor", ["in_process", "poll"])
async def test_a_service_without_its_own_model_refuses_it(executor: str, tmp_path: Path) -> None:
    answerer = SteadyAnswerer()
    opened = open_evaluator(
        EvaluatorSettings.model_validate({"executor": executor}),
        answerer,
        cached=Answerers(answerer) if executor == "poll" else None,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
    )
    async with opened as evaluator:
        with pytest.raises(InvalidRequest, match="cache_generations: needs an evaluator with an"):
            await evaluator.create_evaluation(request(cached=True), questions())
    assert not answerer.answers
