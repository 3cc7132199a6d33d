"""The shares of the lab's questions in a request for an evaluation."""

from collections.abc import AsyncIterator

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import EvaluationQuestion, EvaluationRequest
from scaar.core.types import PolicyRequest
from scaar.evaluator.datasets.sample import draw_questions
from scaar.evaluator.service.request_plan import QuestionSources, plan_request

SOURCES = QuestionSources({}, lab_index=str, max_questions=100, max_upload_bytes=1_000)
POLICIES = (PolicyRequest("no_retrieval"),)


async def no_questions() -> AsyncIterator[EvaluationQuestion]:
    return
    yield


async def test_a_request_draws_the_questions_of_a_local_evaluation() -> None:
    request = EvaluationRequest(POLICIES, dataset="lab", limit=20, style=0.0, tail_share=0.2)
    spec, questions = await plan_request(request, no_questions(), SOURCES)
    drawn = draw_questions("lab", limit=20, seed=None, style=0.0, tail_share=0.2)
    assert questions == drawn.questions
    assert spec.dataset == drawn.origin
    assert [dict(each.labels)["popularity"] for each in questions].count("tail") == 4


async def test_a_request_draws_the_questions_with_free_words_of_a_local_evaluation() -> None:
    request = EvaluationRequest(POLICIES, dataset="lab", limit=20, freedom=0.5)
    spec, questions = await plan_request(request, no_questions(), SOURCES)
    assert questions == draw_questions("lab", limit=20, seed=None, freedom=0.5).questions
    assert spec.dataset.freedom == 0.5
    assert all(each.question.endswith(" Say it with some freedom.") for each in questions)


async def test_a_freedom_without_a_rate_or_beside_a_style_or_of_other_questions_is_rejected() -> (
    None
):
    for fields, expected in (
        ({"freedom": 0.3}, r"freedom: must be one of 0, 0\.25, 0\.5, 1, not 0\.3"),
        ({"freedom": 0.5, "style": 1.0}, "freedom: cannot be combined with style"),
    ):
        lab = EvaluationRequest(POLICIES, dataset="lab", limit=20, **fields)
        with pytest.raises(InvalidRequest, match=expected):
            await plan_request(lab, no_questions(), SOURCES)
    sent = EvaluationRequest(POLICIES, freedom=0.5)
    with pytest.raises(InvalidRequest, match="freedom: needs the data set lab"):
        await plan_request(sent, no_questions(), SOURCES)


@pytest.mark.parametrize("field", ["style", "tail_share"])
async def test_a_share_out_of_range_and_of_other_questions_is_refused(field: str) -> None:
    lab = EvaluationRequest(POLICIES, dataset="lab", limit=20, **{field: 1.5})
    with pytest.raises(InvalidRequest, match=rf"{field}: must be 0 to 1, not 1\.5"):
        await plan_request(lab, no_questions(), SOURCES)
    sent = EvaluationRequest(POLICIES, **{field: 0.5})
    with pytest.raises(InvalidRequest, match=f"{field}: needs the data set lab"):
        await plan_request(sent, no_questions(), SOURCES)
