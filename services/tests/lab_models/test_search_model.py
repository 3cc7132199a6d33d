"""``lab-lm-search`` under ``model_asks``, over the lab's index."""

from contextlib import aclosing

import pytest

from scaar.compose import open_answerer
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    PassagesRetrieved,
    PolicyRequest,
    SearchDecision,
    SearchRequested,
)
from scaar.lab.models import LAB_LM_SEARCH
from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import World
from scaar.testing.commands import run_scaar

MODEL = "SCAAR_GENERATOR_MODEL"


async def answered(question: Question) -> list[AnswerEvent]:
    request = AnswerRequest(question.question, PolicyRequest("model_asks"))
    async with open_answerer() as answerer, aclosing(answerer.stream_answer(request)) as stream:
        return [event async for event in stream]


async def test_the_search_model_searches_for_unknown_films_and_reads_what_it_finds(
    tail_questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL, LAB_LM_SEARCH)
    right = searched = 0
    for question in tail_questions:
        events = await answered(question)
        finished = events[-1]
        assert isinstance(finished, AnswerFinished)
        requests = [each for each in events if isinstance(each, SearchRequested)]
        found = [each for each in events if isinstance(each, PassagesRetrieved)]
        searched += any(each.decision is SearchDecision.SEARCHED for each in requests)
        if requests and requests[0].decision is SearchDecision.SEARCHED:
            assert requests[0].query in question.question
            assert found[0].passages
        right += finished.answer.answer in question.answers

    assert searched >= 0.8 * len(tail_questions)
    assert right >= 0.8 * len(tail_questions)


async def test_the_search_model_answers_popular_questions_mostly_from_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL, LAB_LM_SEARCH)
    drawn = draw_questions(world, count=300, split="head")
    popular = [each for each in drawn if each.kind == "one_hop" and int(each.id.split("-")[3]) < 30]
    unsearched = right = 0
    for question in popular[:10]:
        finished = (await answered(question))[-1]
        assert isinstance(finished, AnswerFinished)
        unsearched += not finished.answer.usage.searches
        right += finished.answer.answer in question.answers
    assert unsearched >= 7
    assert right >= 7


def test_ask_answers_with_the_search_model(
    tail_questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL, LAB_LM_SEARCH)
    question = tail_questions[0]
    ran = run_scaar("ask", question.question, "--policy", "model_asks")
    assert ran.status == 0
    assert question.answers[0] in ran.out


async def test_without_a_policy_of_requests_its_answer_is_the_one_it_writes_in_tags(
    tail_questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL, LAB_LM_SEARCH)
    request = AnswerRequest(tail_questions[0].question, PolicyRequest("no_retrieval"))
    async with open_answerer() as answerer, aclosing(answerer.stream_answer(request)) as stream:
        events = [event async for event in stream]
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    assert finished.answer.answer
    assert "<" not in finished.answer.answer
