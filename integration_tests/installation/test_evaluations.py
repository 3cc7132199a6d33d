"""An evaluation from its creation to its report, asked for as another team would."""

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import grpc
import pytest

from scaar.v1.evaluator_pb2 import (
    EVALUATION_STATE_CANCELLED,
    EVALUATION_STATE_SUCCEEDED,
    REPORT_FORMAT_HTML,
    REPORT_FORMAT_JSON,
    REPORT_FORMAT_MARKDOWN,
    CancelEvaluationRequest,
    GetEvaluationRequest,
    GetReportRequest,
    ListEvaluationsRequest,
)
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from .access import Access
from .client import PATIENCE_S, error_details
from .evaluations import QUESTIONS, create_evaluation, predictions, wait_for_evaluation
from .needs import Need, needs

pytestmark = needs(Need.EVALUATOR)


@pytest.fixture
async def evaluator(access: Access) -> AsyncIterator[EvaluatorServiceStub]:
    async with access.evaluator_channel() as channel:
        yield EvaluatorServiceStub(channel)


async def test_an_evaluation_is_watched_to_its_end_and_reported(
    access: Access, evaluator: EvaluatorServiceStub
) -> None:
    evaluation = await create_evaluation(evaluator, access)
    assert (evaluation.questions, evaluation.total) == (3, 6)
    last = await wait_for_evaluation(evaluator, evaluation)
    assert last.state == EVALUATION_STATE_SUCCEEDED, last.error
    assert (last.done, last.failed) == (6, 0)
    found = await predictions(evaluator, last, 4)
    requested = {(each.question_id, each.setting) for each in found}
    ids = [f"{name}-0" for name, _, _ in QUESTIONS]
    assert requested == {(name, setting) for name in ids for setting in last.settings}
    assert len(found) == 6
    assert all(each.answer and each.scores for each in found)
    assert {each.usage.retrievals for each in found} == {0, 1}
    for report_format in (REPORT_FORMAT_MARKDOWN, REPORT_FORMAT_HTML, REPORT_FORMAT_JSON):
        request = GetReportRequest(evaluation_id=last.id, format=report_format)
        content = (await evaluator.GetReport(request, timeout=PATIENCE_S)).content
        assert all(setting in content for setting in last.settings)
    assert json.loads(content)
    listed = await evaluator.ListEvaluations(ListEvaluationsRequest(), timeout=PATIENCE_S)
    assert last.id in [each.id for each in listed.evaluations]


async def test_the_same_request_id_returns_the_same_evaluation(
    access: Access, evaluator: EvaluatorServiceStub
) -> None:
    name = f"outside-{uuid4().hex}"
    first = await create_evaluation(evaluator, access, request_id=name)
    again = await create_evaluation(evaluator, access, request_id=name)
    assert again.id == first.id
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await create_evaluation(evaluator, access, request_id=name, times=2)
    assert error_details(raised.value).reason == "ALREADY_EXISTS"
    await wait_for_evaluation(evaluator, first)


async def test_a_cancelled_evaluation_stays_cancelled_and_has_no_report(
    access: Access, evaluator: EvaluatorServiceStub
) -> None:
    evaluation = await create_evaluation(evaluator, access, times=100)
    cancel = CancelEvaluationRequest(evaluation_id=evaluation.id)
    await evaluator.CancelEvaluation(cancel, timeout=PATIENCE_S)
    assert (await wait_for_evaluation(evaluator, evaluation)).state == EVALUATION_STATE_CANCELLED
    report = GetReportRequest(evaluation_id=evaluation.id, format=REPORT_FORMAT_JSON)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await evaluator.GetReport(report, timeout=PATIENCE_S)
    said = error_details(raised.value)
    assert (said.code, said.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "WRONG_STATE")


async def test_a_missing_evaluation_is_not_found(evaluator: EvaluatorServiceStub) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await evaluator.GetEvaluation(
            GetEvaluationRequest(evaluation_id=uuid4().hex), timeout=PATIENCE_S
        )
    assert error_details(raised.value).reason == "NOT_FOUND"
