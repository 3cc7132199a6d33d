"""Conformance suite of evaluators with a :class:`SteadyAnswerer` and its index ``lab``.

It takes at most 40 questions an evaluation and 3 unfinished ones a tenant, asks a question that
fails twice, and names no data set but ``lab``.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound, Overloaded, WrongState
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationGrid,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    ReportFormat,
    no_questions,
)
from scaar.core.ports import Evaluator
from scaar.core.types import (
    AnswerFinished,
    AnswerStarted,
    PolicyOverrides,
    PolicyRequest,
    SentenceAccepted,
)
from scaar.testing.steady_answerer import SteadyAnswerer

QUESTIONS = tuple(
    EvaluationQuestion(f"q{at}", f"Who is number {at}?", ("Ada" if at % 2 else "Grace",))
    for at in range(10)
)
REQUEST = EvaluationRequest(
    policies=(PolicyRequest("no_retrieval"), PolicyRequest("flare")),
    grid=EvaluationGrid(theta=(0.3, 0.8)),
    indexes=("lab",),
    request_id="one",
)
SETTINGS = ("no_retrieval", "flare:theta=0.3", "flare:theta=0.8")
WRONG = {
    "dataset": replace(REQUEST, dataset="nowhere"),
    "policies": replace(REQUEST, policies=()),
    "policies[1].theta": replace(
        REQUEST,
        policies=(
            PolicyRequest("no_retrieval"),
            PolicyRequest("flare", PolicyOverrides(theta=7.0)),
        ),
    ),
    "policies[1]": replace(REQUEST, policies=(PolicyRequest("flare"), PolicyRequest("flare"))),
    "policies[0].name": replace(REQUEST, policies=(PolicyRequest("guess"),)),
    "grid.theta": replace(REQUEST, policies=(PolicyRequest("single_round"),)),
    "limit": replace(REQUEST, limit=11),
    "seed": replace(REQUEST, seed=-1),
    "indexes": replace(REQUEST, indexes=()),
    "timeout_s": replace(REQUEST, timeout_s=0.0),
    "request_id": replace(REQUEST, request_id="x" * 129),
}


class EvaluatorConformance:
    """Derive from this class; provide the fixtures ``evaluator`` and ``answerer``."""

    @pytest.fixture
    def answerer(self) -> SteadyAnswerer:
        """The answerer of the evaluator, which fails for questions that contain "poison"."""
        return SteadyAnswerer(failing=(("poison", 0), ("shy", 1)))

    @pytest.fixture
    def evaluator(self, answerer: SteadyAnswerer) -> Evaluator:
        """The evaluator under test."""
        raise NotImplementedError

    async def test_every_question_is_answered_once_under_every_setting(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        assert (created.state, created.total, created.done) == (EvaluationState.QUEUED, 30, 0)
        assert (created.settings, created.questions) == (SETTINGS, 10)
        last = await ended(evaluator, created)
        assert last.evaluation.state is EvaluationState.SUCCEEDED
        assert (last.evaluation.done, last.evaluation.failed) == (30, 0)
        assert last.evaluation.started
        assert last.evaluation.ended
        assert [each.setting for each in last.figures] == list(SETTINGS)
        assert [each.done for each in last.figures] == [10, 10, 10]
        assert {(each.measure, each.mean) for each in last.figures} == {("f1", 0.5)}
        assert last.evaluation == await evaluator.get_evaluation(created.id)
        page = await evaluator.list_predictions(created.id)
        order = [(each.question_id, each.setting) for each in page.predictions]
        assert order == [(each.id, label) for each in QUESTIONS for label in SETTINGS]
        assert {each.answer for each in page.predictions} == {"Ada"}
        assert dict(page.predictions[3].scores)["exact_match"] == 1.0

    async def test_details_have_the_question_and_the_decisions(self, evaluator: Evaluator) -> None:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await ended(evaluator, created)
        page = await evaluator.list_predictions(created.id, question_id="q3", detailed=True)
        assert [each.setting for each in page.predictions] == list(SETTINGS)
        for each in page.predictions:
            assert each.question is not None
            asked = (each.question.id, each.question.question, each.question.answers)
            assert asked == ("q3", QUESTIONS[3].question, QUESTIONS[3].answers)
            started, finished = each.events[0], each.events[-1]
            assert isinstance(started, AnswerStarted)
            assert isinstance(finished, AnswerFinished)
            assert finished.answer.answer == each.answer
            stands = [event for event in each.events if isinstance(event, SentenceAccepted)]
            assert "".join(event.accepted.text for event in stands) == each.text
        plain = (await evaluator.list_predictions(created.id, page_size=1)).predictions[0]
        assert (plain.question, plain.events) == (None, ())
        with pytest.raises(InvalidRequest, match=r"question_id: .* has no question 'nope'"):
            await evaluator.list_predictions(created.id, question_id="nope")

    async def test_a_report_has_every_format(self, evaluator: Evaluator) -> None:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await ended(evaluator, created)
        markdown = await evaluator.report(created.id, ReportFormat.MARKDOWN)
        assert markdown.startswith("# Evaluation on jsonl")
        assert "flare" in await evaluator.report(created.id, ReportFormat.HTML)
        assert '"title"' in await evaluator.report(created.id, ReportFormat.JSON)

    async def test_the_same_request_id_returns_the_same_evaluation(
        self, evaluator: Evaluator
    ) -> None:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        again = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        assert again.id == created.id
        with pytest.raises(AlreadyExists, match=r"timeout_s is 60.0 in the stored one and 7.0 now"):
            await evaluator.create_evaluation(replace(REQUEST, timeout_s=7.0), sent(QUESTIONS))
        with pytest.raises(
            AlreadyExists, match=r"dataset.questions is 10 in the stored one and 9 now"
        ):
            await evaluator.create_evaluation(REQUEST, sent(QUESTIONS[:9]))
        other = await evaluator.create_evaluation(
            replace(REQUEST, tenant="others"), sent(QUESTIONS)
        )
        assert (other.tenant, created.tenant) == ("others", "default")
        assert other.id != created.id

    @pytest.mark.parametrize("field", WRONG)
    async def test_a_wrong_request_is_refused_by_its_field(
        self, evaluator: Evaluator, field: str
    ) -> None:
        questions = no_questions() if field == "dataset" else sent(QUESTIONS)
        with pytest.raises(InvalidRequest) as caught:
            await evaluator.create_evaluation(WRONG[field], questions)
        assert {each.field for each in caught.value.violations} == {field}
        assert (await evaluator.list_evaluations()).evaluations == ()

    @pytest.mark.parametrize(
        ("questions", "field", "message"),
        [
            ((), "questions", "must not be empty"),
            (
                (*QUESTIONS, QUESTIONS[3]),
                "questions[10].id",
                "is already the id of questions\\[3\\]",
            ),
            ((replace(QUESTIONS[0], answers=()),), "questions[0].answers", "at least one"),
            ((replace(QUESTIONS[0], question=" "),), "questions[0].question", "not be empty"),
            (
                tuple(replace(QUESTIONS[0], id=f"q{at}") for at in range(41)),
                "questions",
                "at most 40",
            ),
        ],
    )
    async def test_wrong_questions_are_refused_by_their_place(
        self,
        evaluator: Evaluator,
        questions: Sequence[EvaluationQuestion],
        field: str,
        message: str,
    ) -> None:
        with pytest.raises(InvalidRequest, match=message) as caught:
            await evaluator.create_evaluation(REQUEST, sent(questions))
        assert [each.field for each in caught.value.violations] == [field]

    async def test_questions_beside_a_data_set_are_refused(self, evaluator: Evaluator) -> None:
        with pytest.raises(InvalidRequest, match="cannot be sent with the data set lab"):
            await evaluator.create_evaluation(replace(REQUEST, dataset="lab"), sent(QUESTIONS))

    async def test_an_unknown_evaluation_is_not_found(self, evaluator: Evaluator) -> None:
        with pytest.raises(NotFound):
            await evaluator.get_evaluation("nobody")
        with pytest.raises(NotFound):
            await anext(evaluator.watch_evaluation("nobody"))
        with pytest.raises(InvalidRequest, match="evaluation_id"):
            await evaluator.get_evaluation("")

    async def test_a_report_before_the_end_names_the_progress(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        answerer.answering.clear()
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        with pytest.raises(WrongState, match="0 of 30 predictions") as caught:
            await evaluator.report(created.id, ReportFormat.HTML)
        assert caught.value.metadata["done"] == "0"
        assert caught.value.metadata["total"] == "30"
        assert caught.value.metadata["state"] in ("queued", "running")

    async def test_a_cancelled_evaluation_ends(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        answerer.answering.clear()
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        watching = asyncio.create_task(ended(evaluator, created))
        await answerer.waiting.wait()
        cancelled = await evaluator.cancel_evaluation(created.id)
        assert cancelled.state is EvaluationState.CANCELLED
        assert (await watching).evaluation.state is EvaluationState.CANCELLED
        assert await evaluator.cancel_evaluation(created.id) == cancelled

    async def test_an_ended_evaluation_cannot_be_cancelled(self, evaluator: Evaluator) -> None:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await ended(evaluator, created)
        with pytest.raises(WrongState, match="is succeeded, with 30 of 30") as caught:
            await evaluator.cancel_evaluation(created.id)
        assert caught.value.metadata["state"] == "succeeded"

    async def test_a_question_that_always_fails_scores_0_and_the_others_continue(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        poison = replace(QUESTIONS[1], id="bad", question="Who is poison?")
        shy = replace(QUESTIONS[1], id="shy", question="Who is shy?")
        request = replace(REQUEST, policies=(PolicyRequest("no_retrieval"),), grid=EvaluationGrid())
        created = await evaluator.create_evaluation(request, sent((poison, shy, *QUESTIONS)))
        last = await ended(evaluator, created)
        assert last.evaluation.state is EvaluationState.SUCCEEDED
        assert (last.evaluation.done, last.evaluation.failed) == (12, 1)
        first, second = (await evaluator.list_predictions(created.id)).predictions[:2]
        assert first.failure is not None
        assert first.failure.reason == "BACKEND_UNAVAILABLE"
        assert dict(first.scores)["f1"] == 0.0
        assert (second.failure, second.answer) == (None, "Ada")

    async def test_a_cancelled_evaluation_is_resumed_and_answers_no_question_again(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        request = replace(REQUEST, policies=(PolicyRequest("no_retrieval"),), grid=EvaluationGrid())
        answerer.answering.clear()
        answerer.paused = "number 9"
        created = await evaluator.create_evaluation(request, sent(QUESTIONS))
        async with aclosing(evaluator.watch_evaluation(created.id)) as watching:
            async for progress in watching:
                if progress.evaluation.done == 9:
                    break
        await evaluator.cancel_evaluation(created.id)
        stored = (await evaluator.list_predictions(created.id)).predictions
        answerer.answers.clear()
        answerer.answering.set()
        resumed = await evaluator.resume_evaluation(created.id)
        assert resumed.state in (EvaluationState.RUNNING, EvaluationState.SUCCEEDED)
        last = (await ended(evaluator, resumed)).evaluation
        assert (last.state, last.done) == (EvaluationState.SUCCEEDED, 10)
        predictions = (await evaluator.list_predictions(created.id)).predictions
        assert predictions[:9] == stored
        # The answer that was in progress may still be the first one.
        assert set(answerer.answers) <= {"Who is number 9?"}

    async def test_failed_predictions_are_made_again_on_request(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        poison = replace(QUESTIONS[1], id="bad", question="Who is poison?")
        request = replace(REQUEST, policies=(PolicyRequest("no_retrieval"),), grid=EvaluationGrid())
        created = await evaluator.create_evaluation(request, sent((poison, *QUESTIONS)))
        first = (await ended(evaluator, created)).evaluation
        assert (first.state, first.failed) == (EvaluationState.SUCCEEDED, 1)
        assert await evaluator.resume_evaluation(created.id) == first
        answerer.failing = ()
        answerer.answers.clear()
        resumed = await evaluator.resume_evaluation(created.id, retry_failed=True)
        last = (await ended(evaluator, resumed)).evaluation
        assert (last.state, last.done, last.failed) == (EvaluationState.SUCCEEDED, 11, 0)
        assert [name for name, count in answerer.answers.items() if count] == ["Who is poison?"]
        assert await evaluator.resume_evaluation(created.id, retry_failed=True) == last

    async def test_a_resumed_evaluation_counts_as_unfinished(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        answerer.answering.clear()
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await evaluator.cancel_evaluation(created.id)
        for name in "abc":
            await evaluator.create_evaluation(replace(REQUEST, request_id=name), sent(QUESTIONS))
        with pytest.raises(Overloaded, match="3 unfinished evaluations"):
            await evaluator.resume_evaluation(created.id)
        running = await evaluator.list_evaluations(states=(EvaluationState.CANCELLED,))
        assert [each.id for each in running.evaluations] == [created.id]
        with pytest.raises(NotFound):
            await evaluator.resume_evaluation("nothing")

    async def test_the_unfinished_evaluations_of_a_tenant_are_limited(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        answerer.answering.clear()
        for name in "abc":
            await evaluator.create_evaluation(replace(REQUEST, request_id=name), sent(QUESTIONS))
        with pytest.raises(Overloaded, match="3 unfinished evaluations") as caught:
            await evaluator.create_evaluation(replace(REQUEST, request_id="d"), sent(QUESTIONS))
        assert caught.value.retry_after_s > 0
        other = replace(REQUEST, request_id="d", tenant="others")
        assert (await evaluator.create_evaluation(other, sent(QUESTIONS))).tenant == "others"

    async def test_pages_hold_every_evaluation_once_the_newest_first(
        self, evaluator: Evaluator, answerer: SteadyAnswerer
    ) -> None:
        answerer.answering.clear()
        made = [
            await evaluator.create_evaluation(replace(REQUEST, request_id=name), sent(QUESTIONS))
            for name in "abc"
        ]
        await evaluator.cancel_evaluation(made[0].id)
        first = await evaluator.list_evaluations(page_size=2)
        assert [each.id for each in first.evaluations] == [made[2].id, made[1].id]
        rest = await evaluator.list_evaluations(page_size=2, page_token=first.next_page_token)
        assert ([each.id for each in rest.evaluations], rest.next_page_token) == ([made[0].id], "")
        cancelled = await evaluator.list_evaluations(states=(EvaluationState.CANCELLED,))
        assert [each.id for each in cancelled.evaluations] == [made[0].id]

    async def test_a_page_token_of_another_query_is_refused(self, evaluator: Evaluator) -> None:
        created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
        await ended(evaluator, created)
        page = await evaluator.list_predictions(created.id, page_size=4)
        assert [each.question_id for each in page.predictions] == ["q0", "q0", "q0", "q1"]
        after = await evaluator.list_predictions(
            created.id, page_size=1, page_token=page.next_page_token
        )
        assert (after.predictions[0].question_id, after.predictions[0].setting) == (
            "q1",
            SETTINGS[1],
        )
        for token in (page.next_page_token, "%", "AAAA"):
            with pytest.raises(InvalidRequest, match="page_token"):
                await evaluator.list_predictions(
                    created.id, setting="no_retrieval", page_token=token
                )
            with pytest.raises(InvalidRequest, match="page_token"):
                await evaluator.list_evaluations(page_token=token)
        with pytest.raises(InvalidRequest, match="page_size: must be 1 to 1,000, not 0"):
            await evaluator.list_evaluations(page_size=0)
        with pytest.raises(InvalidRequest, match="there is no setting 'nope'"):
            await evaluator.list_predictions(created.id, setting="nope")


async def sent(questions: Sequence[EvaluationQuestion]) -> AsyncIterator[EvaluationQuestion]:
    """Yield the questions."""
    for each in questions:
        yield each


async def ended(evaluator: Evaluator, created: EvaluationDescription) -> EvaluationProgress:
    """The last progress message of a watched evaluation."""
    last = None
    async for last in evaluator.watch_evaluation(created.id):
        assert last.evaluation.id == created.id
    assert last is not None
    return last
