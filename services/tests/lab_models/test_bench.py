"""What ``make bench`` compares, on the lab's models; times are not tested."""

from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from bench import attention_cost, matched
from scaar.compose import open_answerer, open_generator
from scaar.core.ports import Answerer
from scaar.core.types import AnswerEvent, AnswerRequest
from scaar.lab.questions import Question


class WatchedAnswerer:
    """Remembers the policies that it is asked for."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer
        self.received: list[str] = []

    def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        self.received.append(request.policy.name)
        return self._answerer.stream_answer(request)


@pytest.fixture
async def answerer() -> AsyncIterator[WatchedAnswerer]:
    async with open_answerer() as opened:
        yield WatchedAnswerer(opened)


@pytest.fixture
def questions(tail_questions: list[Question]) -> list[str]:
    return [each.question for each in tail_questions[:4]]


@pytest.mark.parametrize("retrievals", [0.5, pytest.param(0.75, marks=pytest.mark.long)])
async def test_every_policy_is_measured_at_the_same_budget(
    answerer: WatchedAnswerer, questions: list[str], retrievals: float
) -> None:
    policies = await matched.at_equal_retrievals(answerer, questions, retrievals=retrievals)
    assert tuple(each.name for each in policies) == matched.POLICIES
    found = await matched.ask_by_turns(answerer, questions, policies, rounds=1)
    for each in found.values():
        (only,) = each.rounds
        assert only.mean("retrievals") == retrievals
        assert len(each.cells(found["flare"])) == len(matched.COLUMNS)


async def test_another_policy_is_first_at_every_question_and_in_every_round(
    answerer: WatchedAnswerer, questions: list[str]
) -> None:
    policies = await matched.at_equal_retrievals(answerer, questions[:1])
    answerer.received.clear()
    await matched.ask_by_turns(answerer, questions[:2], policies, rounds=2)
    flare, scaar, dragin = matched.POLICIES
    turns = answerer.received[1 + len(policies) :]
    assert turns[0:3] == [flare, scaar, dragin]
    assert turns[3:6] == turns[6:9] == [scaar, dragin, flare]
    assert turns[9:12] == [dragin, flare, scaar]


async def test_attention_costs_at_least_a_number_for_every_token_of_the_prompt(
    questions: list[str],
) -> None:
    async with open_generator() as generator:
        rows = await attention_cost.rows(generator, questions[:1], rounds=1)
    assert [int(row[0]) for row in rows] == list(attention_cost.PROMPT_TOKENS)
    for prompt_tokens, _, _, _, _, plain, attending in rows:
        assert int(attending) - int(plain) >= 8 * int(prompt_tokens)
