"""The clients of an evaluator, over sockets."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.client import (
    EvaluationGrid,
    EvaluationQuestion,
    EvaluationState,
    InvalidRequest,
    NotFound,
    PolicyOverrides,
    PolicyRequest,
    ReportFormat,
    WrongState,
    open_evaluation_client,
    open_sync_evaluation_client,
)
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.testing.sockets import serving
from scaar.testing.steady_answerer import SteadyAnswerer
from scaar.wire.evaluator import EvaluatorServicer

QUESTIONS = [EvaluationQuestion(f"q{number}", f"Who is {number}?", ("Ada",)) for number in range(4)]


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[str]:
    hosted = open_evaluator(
        EvaluatorSettings(),
        SteadyAnswerer(),
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
    )
    async with hosted as evaluator, serving(EvaluatorServicer(evaluator)) as (_, target):
        yield target


async def test_an_evaluation_is_created_watched_and_read(target: str) -> None:
    async with open_evaluation_client(target) as client:
        created = await client.create_evaluation(
            ["no_retrieval", PolicyRequest("flare", PolicyOverrides(theta=0.5))],
            questions=QUESTIONS,
            indexes=["lab"],
            request_id="nightly",
        )
        assert (created.total, created.request_id) == (8, "nightly")
        async with client.watch_evaluation(created.id) as progress:
            last = [each async for each in progress][-1]
        assert last.evaluation.state is EvaluationState.SUCCEEDED
        predictions = [each async for each in client.predictions(created.id)]
        assert len(predictions) == 8
        assert {each.question_id for each in predictions} == {"q0", "q1", "q2", "q3"}
        one = [
            each async for each in client.predictions(created.id, question_id="q1", detailed=True)
        ]
        assert [each.question.question for each in one if each.question] == ["Who is 1?"] * 2
        assert all(each.events for each in one)
        assert json.loads(await client.report(created.id))
        assert (await client.report(created.id, "markdown")).startswith("#")
        assert await client.get_evaluation(created.id) == last.evaluation
        again = await client.create_evaluation(
            ["no_retrieval", PolicyRequest("flare", PolicyOverrides(theta=0.5))],
            questions=QUESTIONS,
            indexes=["lab"],
            request_id="nightly",
        )
        assert again.id == created.id
        page = await client.list_evaluations(states=[EvaluationState.SUCCEEDED])
        assert [each.id for each in page.evaluations] == [created.id]


async def test_every_page_of_predictions_is_read(target: str) -> None:
    async with open_evaluation_client(target) as client:
        created = await client.create_evaluation(["no_retrieval"], questions=many(250))
        async with client.watch_evaluation(created.id) as progress:
            async for _ in progress:
                pass
        found = [each.question_id async for each in client.predictions(created.id)]
    assert len(found) == len(set(found)) == 250


async def many(number: int) -> AsyncIterator[EvaluationQuestion]:
    for each in range(number):
        yield EvaluationQuestion(f"q{each}", f"Who is {each}?", ("Ada",))


async def test_a_thread_does_the_same(target: str) -> None:
    def in_a_thread() -> tuple[EvaluationState, int, str]:
        with open_sync_evaluation_client(target) as client:
            created = client.create_evaluation(
                ["flare"],
                questions=QUESTIONS,
                indexes=["lab"],
                grid=EvaluationGrid(theta=(0.2, 0.4)),
            )
            with client.watch_evaluation(created.id) as progress:
                last = list(progress)[-1]
            count = len(list(client.predictions(created.id)))
            assert client.get_evaluation(created.id).done == count
            assert client.list_evaluations().evaluations[0].id == created.id
            return last.evaluation.state, count, client.report(created.id, ReportFormat.HTML)

    state, count, report = await asyncio.to_thread(in_a_thread)
    assert (state, count) == (EvaluationState.SUCCEEDED, 8)
    assert "<html" in report


async def test_an_evaluation_is_cancelled_and_its_report_refused(target: str) -> None:
    async with open_evaluation_client(target) as client:
        created = await client.create_evaluation(["no_retrieval"], questions=many(2000))
        assert (await client.cancel_evaluation(created.id)).state is EvaluationState.CANCELLED
        with pytest.raises(WrongState):
            await client.report(created.id)
        with pytest.raises(NotFound):
            await client.get_evaluation("other")


async def test_a_question_that_is_too_long_is_refused_before_it_is_sent() -> None:
    long = [QUESTIONS[0], EvaluationQuestion("q9", "x" * 10_000_000, ("Ada",))]
    async with open_evaluation_client("dns:///127.0.0.1:1") as client:
        with pytest.raises(InvalidRequest) as caught:
            await client.create_evaluation(["no_retrieval"], questions=long)
        assert str(caught.value) == (
            "questions[1].question: must have at most 8,000 characters, not 10,000,000"
        )
        with pytest.raises(InvalidRequest, match="evaluation_id: must have at most 128 characters"):
            await client.get_evaluation("x" * 129)
        with pytest.raises(InvalidRequest, match="format: must be one of markdown, html, json"):
            await client.report("x", "pdf")


async def test_the_tenant_of_the_metadata_is_that_of_the_evaluation(target: str) -> None:
    async with open_evaluation_client(target, metadata={"x-scaar-tenant": "acme"}) as client:
        created = await client.create_evaluation(["no_retrieval"], questions=QUESTIONS)
    assert created.tenant == "acme"
